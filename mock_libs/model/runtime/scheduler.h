/* SPDX-License-Identifier: Apache-2.0 */
/* Running what streams have queued. Nothing here has a thread of its own. */
#ifndef MOCK_SCHEDULER_H
#define MOCK_SCHEDULER_H

#include "callback.h"
#include "stream.h"

/* How far running has come: there; the device is working; another thread must do something first. */
enum mock_run { MOCK_ARRIVED, MOCK_WORKING, MOCK_BLOCKED };

/* Runs queued work up to a position, and waits for nobody. */
enum mock_run mock_stream_run(struct stream *stream, uint64_t position);
/* Runs what others than this program wait for, as far as it goes. true: something has moved. */
bool mock_run_awaited(void);
/* The function of a post has returned: lets its stream go on, and frees the post. */
void mock_post_complete(struct post *post);
/* In eager mode: runs whatever can run. */
enum mock_run mock_run_eagerly(void);

#endif
