/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs that are built by binding streams, whose work they take. The first part of such a graph is
 * no stream's: it runs where the graph is executed, and the others begin and end with it.
 * Source: CANN: runtime aclrt_impl/model_ri.cpp, api_impl.cc. */
#include "error_message.h"
#include "named_callback.h"
#include "replay.h"

enum { HEAD = 0, WHEN_ACTIVATED = 0x7FFFFFFF };

/* A graph that is being built, or NULL with the code in *status. */
static struct graph *find_building(aclmdlRI model, aclError *status)
{
    struct graph *graph = mock_graph_find(model, false, status);
    if (graph != NULL && !graph->building) {
        *status = mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                            "the graph is not being built: aclmdlRIBuildBegin makes one");
        graph = NULL;
    }
    return graph;
}

/* The part of a stream, or NULL with the code in *status. */
static struct lane *find_bound(const struct graph *graph, const void *stream, aclError *status)
{
    struct lane *lane = mock_graph_lane(graph, stream);
    if (lane == NULL || lane->unbound || stream == NULL) {
        *status = mock_fail(ACL_ERROR_RT_STREAM_MODEL, "%p is no stream that is bound to the graph",
                            stream);
        return NULL;
    }
    return lane;
}

aclError aclmdlRIBuildBegin(aclmdlRI *model, uint32_t flag)
{
    aclError status;
    const struct context *context = mock_usable_context(&status);
    if (context == NULL) {
        return status;
    }
    if (flag != 0) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "flag is %u; it must be 0", flag);
    }
    struct graph *graph = mock_graph_new();
    if (graph == NULL || mock_graph_add_lane(graph, graph->handle) == NULL) {
        if (graph != NULL) {
            mock_graph_free(graph);
        }
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a graph");
    }
    graph->context = context->handle;
    graph->built = graph->building = graph->capturing = true;
    *model = graph->handle;
    return ACL_SUCCESS;
}

/* Let a part wait for a position of another one. */
static aclError add_wait(struct lane *lane, const struct lane *source, uint64_t position)
{
    struct task *task = mock_stream_task(TASK_WAIT);
    if (task == NULL) {
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    task->as.event.source = source->captured;
    task->as.event.position = position;
    mock_graph_add(lane, task);
    return ACL_SUCCESS;
}

aclError aclmdlRIBindStream(aclmdlRI model, aclrtStream handle, uint32_t flag)
{
    aclError status;
    struct graph *graph = find_building(model, &status);
    struct stream *stream = graph == NULL ? NULL : mock_stream_find(handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    if ((stream->flags & ACL_STREAM_PERSISTENT) == 0 || stream->lane != NULL ||
        mock_graph_lane(graph, handle) != NULL || (flag != HEAD && flag != WHEN_ACTIVATED)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "the stream must be made with ACL_STREAM_PERSISTENT and be bound to no "
                         "graph; flag 0x%x must be 0 or 0x7FFFFFFF",
                         flag);
    }
    struct lane *lane = mock_graph_add_lane(graph, handle);
    if (lane == NULL) {
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a graph");
    }
    lane->inactive = flag == WHEN_ACTIVATED;
    status = add_wait(lane, graph->lanes, 0);
    if (status == ACL_SUCCESS) {
        stream->lane = lane;
    }
    return status;
}

aclError aclmdlRIEndTask(aclmdlRI model, aclrtStream stream)
{
    aclError status;
    struct graph *graph = find_building(model, &status);
    if (graph == NULL || find_bound(graph, stream, &status) == NULL) {
        return status;
    }
    if (graph->ended) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "the graph has an end already");
    }
    graph->ended = true;
    return ACL_SUCCESS;
}

/* A stream that is never activated does not run: its tasks do nothing. */
static void drop_inactive(struct graph *graph)
{
    for (struct task *task = graph->first; task != NULL; task = task->next) {
        if (task->lane->inactive) {
            mock_graph_disable(task);
        }
    }
}

aclError aclmdlRIBuildEnd(aclmdlRI model, void *reserve)
{
    aclError status;
    struct graph *graph = find_building(model, &status);
    if (graph == NULL) {
        return status;
    }
    if (reserve != NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "reserve must be NULL");
    }
    if (!graph->ended) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "the graph has no end; call aclmdlRIEndTask");
    }
    drop_inactive(graph);
    for (struct lane *lane = graph->lanes->next; lane != NULL && status == ACL_SUCCESS;
         lane = lane->next) {
        struct stream *stream = mock_handle_get(lane->captured, MOCK_STREAM);
        if (stream != NULL) {
            stream->lane = NULL;
        }
        status = add_wait(graph->lanes, lane, lane->count);
    }
    struct context *context = mock_handle_get(graph->context, MOCK_CONTEXT);
    status = status != ACL_SUCCESS ? status : mock_graph_create_streams(graph, context);
    graph->building = graph->capturing = false;
    return status;
}

aclError aclmdlRIUnbindStream(aclmdlRI model, aclrtStream stream)
{
    aclError status;
    const struct graph *graph = mock_graph_find(model, false, &status);
    struct lane *lane = graph == NULL ? NULL : find_bound(graph, stream, &status);
    if (lane != NULL && graph->building) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "the graph is being built; end that first");
    }
    if (lane != NULL) {
        lane->unbound = true;
    }
    return status;
}

/* Drop what waits to run in an execution. */
aclError aclmdlRIAbort(aclmdlRI model)
{
    aclError status;
    const struct graph *graph = mock_graph_find(model, false, &status);
    for (const struct lane *lane = graph == NULL ? NULL : graph->lanes; lane != NULL;
         lane = lane->next) {
        struct stream *own = mock_handle_get(lane->own, MOCK_STREAM);
        if (own != NULL) {
            mock_stream_drop(own);
        }
    }
    return status;
}

aclError aclmdlRIGetStreams(aclmdlRI model, aclrtStream *streams, uint32_t *numStreams)
{
    aclError status;
    uint32_t count = 0;
    const struct graph *graph = mock_graph_find(model, false, &status);
    const struct lane *first = graph == NULL ? NULL : graph->lanes;
    first = first != NULL && graph->built ? first->next : first;
    for (const struct lane *lane = first; lane != NULL; lane = lane->next, count++) {
        if (streams != NULL && count < *numStreams) {
            streams[count] = lane->captured;
        }
    }
    if (graph != NULL && streams != NULL && count > *numStreams) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "numStreams is %u; the graph has %u streams",
                         *numStreams, count);
    }
    *numStreams = graph != NULL ? count : *numStreams;
    return status;
}

/* ---- the end of a graph ------------------------------------------------------------------- */

aclError aclmdlRIDestroyRegisterCallback(aclmdlRI model, aclrtCallback func, void *userData)
{
    aclError status;
    return mock_graph_find(model, false, &status) == NULL
               ? status
               : mock_callback_add(MOCK_ON_GRAPH_END, (uintptr_t)model, (mock_callback)func,
                                   userData);
}

aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI model, aclrtCallback func)
{
    aclError status;
    return mock_graph_find(model, false, &status) == NULL
               ? status
               : mock_callback_remove(MOCK_ON_GRAPH_END, (uintptr_t)model, (mock_callback)func);
}
