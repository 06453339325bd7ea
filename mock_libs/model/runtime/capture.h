/* SPDX-License-Identifier: Apache-2.0 */
/* Captures under way: what stands in one, what may not be done meanwhile, how one ends. */
#ifndef MOCK_CAPTURE_H
#define MOCK_CAPTURE_H

#include "event.h"
#include "graph.h"
#include "stream.h"

/* The capture of a graph begins on a stream, by the calling thread. */
aclError mock_capture_begin(struct stream *stream, aclmdlRICaptureMode mode);
/* It is over: its streams are like others again. */
void mock_capture_end(struct graph *graph);
/* Ends and forgets what is captured in a context that goes. */
void mock_captures_drop(const struct context *context);
/* Whether every lane of a graph comes back to the first one; otherwise *astray does not. */
bool mock_capture_is_joined(const struct graph *graph, const struct lane **unjoined);

/* A stream is to wait for an event: whether either of them, and what, has to do with a capture. 0:
 * the wait can be queued; a stream may have joined the capture by it. */
aclError mock_capture_wait(struct stream *stream, const struct event *event);

/* Somebody asks about a stream, an event or all streams of a context, or waits for them: 0, or why
 * nobody may, which ends the capture. */
aclError mock_capture_check_stream_query(const struct stream *stream);
aclError mock_capture_check_event_query(const struct event *event, const void *handle);
aclError mock_capture_check_context_query(const struct context *context);
/* 0, or why a stream cannot be destroyed or aborted: it is being captured. */
aclError mock_capture_check_destroy(const struct stream *stream);
/* 0, or why the calling thread may not make a call that works at once. */
aclError mock_capture_check_sync_call(void);
/* 0, or why an asynchronous call may not wait for its stream. */
aclError mock_capture_check_blocking_copy(const struct stream *stream);

/* Makes calls that work at once lawful or not for the calling thread; gives what was before. */
aclmdlRICaptureMode mock_capture_exchange_mode(aclmdlRICaptureMode mode);

#endif
