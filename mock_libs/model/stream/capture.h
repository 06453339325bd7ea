/* SPDX-License-Identifier: Apache-2.0 */
/* Captures in progress: their streams, forbidden calls, and their end. */
#pragma once

#include "event.h"
#include "graph.h"
#include "stream.h"

/* The capture of a graph begins on a stream, by the calling thread. */
aclError mock_capture_begin(struct stream *stream, aclmdlRICaptureMode mode);
/* End a capture: its streams run tasks again. */
void mock_capture_end(struct graph *graph);
/* Drop the captures of a context that is destroyed. */
void mock_captures_drop(const struct context *context);
/* Return whether every lane of a graph comes back to the first one; otherwise *unjoined does not. */
bool mock_capture_is_joined(const struct graph *graph, const struct lane **unjoined);

/* Check a wait of a stream for an event against captures. 0: the wait can be queued; the stream
 * may have joined the capture. */
aclError mock_capture_wait(struct stream *stream, const struct event *event);

/* Check a query or synchronization of a stream, an event or a context. 0, or the refusal, which
 * invalidates the capture. */
aclError mock_capture_check_stream_query(const struct stream *stream);
aclError mock_capture_check_event_query(const struct event *event, const void *handle);
aclError mock_capture_check_context_query(const struct context *context);
/* 0, or why a stream cannot be destroyed or aborted: it is being captured. */
aclError mock_capture_check_destroy(const struct stream *stream);
/* 0, or why the calling thread may not make a synchronous call. */
aclError mock_capture_check_sync_call(void);
/* 0, or why an asynchronous call may not wait for its stream. */
aclError mock_capture_check_blocking_copy(const struct stream *stream);

/* Set whether the calling thread may make synchronous calls during a capture; returns the mode
 * before. */
aclmdlRICaptureMode mock_capture_exchange_mode(aclmdlRICaptureMode mode);
