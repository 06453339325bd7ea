/* SPDX-License-Identifier: Apache-2.0 */
/* Scheduler of the streams. It has no thread of its own. */
#pragma once

#include "callback.h"
#include "stream.h"

/* State of a run: reached; the device is working; another thread must act first. */
enum mock_run { MOCK_ARRIVED, MOCK_WORKING, MOCK_BLOCKED };

/* Run queued work up to a position, without waiting. */
enum mock_run mock_stream_run(struct stream *stream, uint64_t position);
/* Run what others than this program wait for, as far as it goes. true: something has moved. */
bool mock_run_awaited(void);
/* The function of a post has returned: lets its stream go on, and frees the post. */
void mock_post_complete(struct post *post);
/* In eager mode: runs whatever can run. */
enum mock_run mock_run_eagerly(void);
