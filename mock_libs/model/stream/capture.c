/* SPDX-License-Identifier: Apache-2.0 */
/* Captures under way. */
#include "capture.h"

#include <stdlib.h>

#include "error_message.h"

static struct graph *capturing;
static _Thread_local aclmdlRICaptureMode thread_mode = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;

static void break_off(struct graph *graph)
{
    graph->broken = graph->broken == ACL_SUCCESS ? ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED
                                                 : graph->broken;
}

/* ---- beginning and end --------------------------------------------------------------------- */

static bool join(struct graph *graph, struct stream *stream)
{
    stream->lane = mock_graph_add_lane(graph, stream->handle);
    return stream->lane != NULL;
}

aclError mock_capture_begin(struct stream *stream, aclmdlRICaptureMode mode)
{
    struct graph *graph = mock_graph_new();
    if (graph == NULL || !join(graph, stream)) {
        if (graph != NULL) {
            mock_graph_free(graph);
        }
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a graph");
    }
    graph->context = stream->context->handle;
    graph->mode = mode;
    graph->thread = (uint64_t)pthread_self();
    graph->capturing = true;
    graph->next = capturing;
    capturing = graph;
    return ACL_SUCCESS;
}

void mock_capture_end(struct graph *graph)
{
    struct graph **link = &capturing;
    while (*link != graph) {
        link = &(*link)->next;
    }
    *link = graph->next;
    graph->capturing = false;
    for (const struct lane *lane = graph->lanes; lane != NULL; lane = lane->next) {
        struct stream *stream = mock_handle_get(lane->captured, MOCK_STREAM);
        if (stream != NULL) {
            stream->lane = NULL;
        }
    }
}

void mock_captures_drop(const struct context *context)
{
    struct graph *graph = capturing;
    while (graph != NULL) {
        struct graph *next = graph->next;
        if (graph->context == context->handle) {
            mock_capture_end(graph);
            mock_graph_free(graph);
        }
        graph = next;
    }
}

/* Backwards from the end: a wait that belongs to what is reached leads to the work before the record
 * that it waits for. `base` is the part of each lane that is reached so far. */
static bool reach(const struct graph *graph)
{
    bool further = false;
    for (const struct task *task = graph->first; task != NULL; task = task->next) {
        struct lane *source = task->kind == TASK_WAIT && task->position <= task->lane->base
                                  ? mock_graph_lane(graph, task->as.event.source)
                                  : NULL;
        if (source != NULL && source->base < task->as.event.position) {
            source->base = task->as.event.position;
            further = true;
        }
    }
    return further;
}

bool mock_capture_is_joined(const struct graph *graph, const struct lane **unjoined)
{
    for (struct lane *lane = graph->lanes; lane != NULL; lane = lane->next) {
        lane->base = lane == graph->lanes ? lane->count : 0;
    }
    while (reach(graph)) {
    }
    for (const struct task *task = graph->first; task != NULL; task = task->next) {
        const bool works = task->kind != TASK_RECORD && task->kind != TASK_RESET;
        if (works && task->position > task->lane->base) {
            *unjoined = task->lane;
            return false;
        }
    }
    return true;
}

/* ---- streams that wait for each other ------------------------------------------------------ */

static aclError refuse_wait(const struct stream *stream, struct graph *graph, aclError code,
                            const char *text)
{
    mock_violate_object(MOCK_CAPTURE_MIXED, MOCK_STREAM, stream->handle, "%s", text);
    break_off(graph);
    return mock_fail(code, "stream %d: %s", stream->id, text);
}

/* The graph that an event's latest record belongs to, while it is captured; NULL: none. */
static struct graph *graph_of(const struct event *event)
{
    struct graph *graph = mock_handle_get(event->captured, MOCK_GRAPH);
    return graph != NULL && graph->capturing ? graph : NULL;
}

static aclError wait_in_capture(struct stream *stream, struct graph *graph)
{
    if (stream->lane != NULL) {
        break_off(stream->lane->graph);
        return refuse_wait(stream, graph, ACL_ERROR_STREAM_CAPTURE_CONFLICT,
                           "it is being captured, and waits for an event of another capture");
    }
    if (stream == stream->context->default_stream) {
        return refuse_wait(stream, graph, ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT,
                           "it is the default stream, which joins no capture");
    }
    if (stream->context->handle != graph->context) {
        return refuse_wait(stream, graph, ACL_ERROR_RT_CAPTURE_DEPENDENCY,
                           "it stands in another context than the capture that it would join");
    }
    return join(graph, stream) ? ACL_SUCCESS
                               : mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                                           "no host memory for another stream of a capture");
}

aclError mock_capture_wait(struct stream *stream, const struct event *event)
{
    struct graph *graph = graph_of(event);
    if (graph != NULL && graph->broken != ACL_SUCCESS) {
        return mock_fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
                         "the event belongs to a capture that broke off");
    }
    if (graph != NULL && (stream->lane == NULL || stream->lane->graph != graph)) {
        return wait_in_capture(stream, graph);
    }
    if (graph == NULL && stream->lane != NULL) {
        return refuse_wait(stream, stream->lane->graph, ACL_ERROR_RT_CAPTURE_DEPENDENCY,
                           "it is being captured, and waits for an event that is not");
    }
    if (graph == NULL && event->captured != NULL) {
        mock_violate_object(MOCK_CAPTURE_MIXED, MOCK_STREAM, stream->handle,
                            "it waits for an event whose latest record belongs to a graph");
        return mock_fail(ACL_ERROR_RT_EVENT_CAPTURED,
                         "the event was recorded in a capture and stands for nothing outside it");
    }
    return ACL_SUCCESS;
}

/* ---- what may not be done meanwhile -------------------------------------------------------- */

aclError mock_capture_check_stream_query(const struct stream *stream)
{
    if (stream->lane == NULL) {
        return ACL_SUCCESS;
    }
    mock_violate_object(MOCK_CAPTURE_DISTURBED, MOCK_STREAM, stream->handle,
                        "it is being captured: nothing that it was given runs before a replay");
    break_off(stream->lane->graph);
    return mock_fail(ACL_ERROR_RT_STREAM_CAPTURED, "stream %d is being captured", stream->id);
}

aclError mock_capture_check_event_query(const struct event *event, const void *handle)
{
    if (event->captured == NULL) {
        return ACL_SUCCESS;
    }
    struct graph *graph = graph_of(event);
    mock_violate_object(MOCK_CAPTURE_DISTURBED, MOCK_EVENT, handle,
                        "its latest record was captured: it describes nothing that runs");
    if (graph != NULL) {
        break_off(graph);
    }
    return mock_fail(ACL_ERROR_RT_EVENT_CAPTURED, "the event was recorded in a capture");
}

aclError mock_capture_check_context_query(const struct context *context)
{
    aclError status = ACL_SUCCESS;
    for (const struct stream *stream = context->streams; stream != NULL; stream = stream->next) {
        status = status != ACL_SUCCESS ? status : mock_capture_check_stream_query(stream);
    }
    return status;
}

aclError mock_capture_check_destroy(const struct stream *stream)
{
    if (stream->lane == NULL) {
        return ACL_SUCCESS;
    }
    mock_violate_object(MOCK_CAPTURED_STREAM_ENDED, MOCK_STREAM, stream->handle,
                        "it is being captured: end the capture first");
    return mock_fail(ACL_ERROR_RT_STREAM_CAPTURED, "stream %d is being captured", stream->id);
}

/* Captures of other threads count in global mode only, and for threads in global mode only. */
static const struct graph *forbidding(void)
{
    const struct graph *graph = capturing;
    const bool global = thread_mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
    while (graph != NULL) {
        const bool own = graph->thread == (uint64_t)pthread_self();
        if (own ? graph->mode != ACL_MODEL_RI_CAPTURE_MODE_RELAXED
                : global && graph->mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) {
            break;
        }
        graph = graph->next;
    }
    return thread_mode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED ? NULL : graph;
}

aclError mock_capture_check_sync_call(void)
{
    const struct graph *graph = forbidding();
    if (graph == NULL) {
        return ACL_SUCCESS;
    }
    mock_violate_object(MOCK_CAPTURE_UNSAFE_CALL, MOCK_GRAPH, graph->handle,
                        "the call works at once, while this graph is being captured");
    return mock_fail(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
                     "no call that works at once while a graph is being captured; capture in "
                     "ACL_MODEL_RI_CAPTURE_MODE_RELAXED, or call it before");
}

aclError mock_capture_check_blocking_copy(const struct stream *stream)
{
    if (stream->lane == NULL) {
        return ACL_SUCCESS;
    }
    mock_violate_object(MOCK_CAPTURE_WOULD_BLOCK, MOCK_STREAM, stream->handle,
                        "for host memory that is not pinned the call would wait for this stream, "
                        "which is being captured");
    break_off(stream->lane->graph);
    return mock_fail(ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC,
                     "stream %d is being captured: the host memory must come from aclrtMallocHost",
                     stream->id);
}

aclmdlRICaptureMode mock_capture_exchange_mode(aclmdlRICaptureMode mode)
{
    const aclmdlRICaptureMode before = thread_mode;
    thread_mode = mode;
    return before;
}
