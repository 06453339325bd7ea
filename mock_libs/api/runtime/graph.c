/* SPDX-License-Identifier: Apache-2.0 */
/* Execution, names and destruction of captured graphs. */
#include "graph.h"

#include <stdio.h>
#include <string.h>

#include "error_message.h"
#include "named_callback.h"
#include "replay.h"
#include "stream_wait.h"
#include "timeout.h"
#include "violation.h"

/* The graph behind a handle with its capture over, or NULL with the code in *status. */
static struct graph *find_ready(aclmdlRI handle, bool destroying, aclError *status)
{
    struct graph *graph = mock_graph_find(handle, destroying, status);
    if (graph != NULL && graph->capturing) {
        mock_violate_object(MOCK_GRAPH_UNFINISHED, MOCK_GRAPH, handle, "its capture has not ended");
        *status = mock_fail(ACL_ERROR_RT_MODEL_CAPTURED,
                            "the graph is being captured; end that first");
        return NULL;
    }
    return graph;
}

aclError aclmdlRIExecuteAsync(aclmdlRI model, aclrtStream handle)
{
    aclError status;
    struct graph *graph = find_ready(model, false, &status);
    struct stream *stream = graph == NULL ? NULL : mock_stream_find(handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    if (stream->context->handle != graph->context) {
        return mock_fail(ACL_ERROR_RT_MODEL_CONTEXT,
                         "the graph was captured in another context than that of stream %d",
                         stream->id);
    }
    if (stream->lane != NULL) {
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                         "stream %d is being captured: the simulated NPU captures no replay of "
                         "another graph",
                         stream->id);
    }
    return mock_graph_replay(graph, stream);
}

static aclError execute(aclmdlRI model, const struct timespec *deadline)
{
    aclError status;
    struct graph *graph = find_ready(model, false, &status);
    const struct context *context = graph == NULL ? NULL : mock_usable_context(&status);
    if (context == NULL) {
        return status;
    }
    if (context->handle != graph->context) {
        return mock_fail(ACL_ERROR_RT_MODEL_CONTEXT,
                         "the graph was captured in another context than the current one");
    }
    struct stream *own = mock_handle_get(graph->lanes->own, MOCK_STREAM);
    status = mock_graph_replay(graph, NULL);
    return status != ACL_SUCCESS ? status : mock_stream_finish(own, deadline);
}

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout)
{
    struct timespec deadline;
    const struct timespec *limit;
    const aclError status = mock_limit(timeout, ACL_ERROR_RT_PARAM_INVALID, &deadline, &limit);
    if (status != ACL_SUCCESS) {
        return status;
    }
    return execute(modelRI, limit);
}

static int call_at_end(mock_callback function, void *data, const void *none)
{
    (void)none;
    ((aclrtCallback)function)(data);
    return 0;
}

aclError aclmdlRIDestroy(aclmdlRI model)
{
    aclError status;
    struct graph *graph = find_ready(model, true, &status);
    if (graph == NULL) {
        return status;
    }
    if (mock_graph_is_running(graph)) {
        mock_violate_object(MOCK_GRAPH_DESTROYED_IN_USE, MOCK_GRAPH, model,
                            "a replay of it has not ended");
        return mock_fail(ACL_ERROR_RT_MODEL_RUNNING,
                         "the graph is running; synchronize with its stream before destroying it");
    }
    mock_graph_destroy(graph);
    mock_callbacks_call(MOCK_ON_GRAPH_END, (uintptr_t)model, call_at_end, NULL);
    return ACL_SUCCESS;
}

/* ---- what it is called ----------------------------------------------------------------------- */

aclError aclmdlRIGetId(aclmdlRI model, uint32_t *id)
{
    aclError status;
    const struct graph *graph = mock_graph_find(model, false, &status);
    if (graph != NULL) {
        *id = graph->id;
    }
    return status;
}

aclError aclmdlRISetName(aclmdlRI model, const char *name)
{
    aclError status;
    struct graph *graph = mock_graph_find(model, false, &status);
    if (graph != NULL && strlen(name) >= sizeof graph->name) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "aclmdlRISetName: the name has %zu bytes; the simulated NPU keeps %zu",
                         strlen(name), sizeof graph->name - 1);
    }
    if (graph != NULL) {
        snprintf(graph->name, sizeof graph->name, "%s", name);
    }
    return status;
}

aclError aclmdlRIGetName(aclmdlRI model, uint32_t room, char *name)
{
    aclError status;
    const struct graph *graph = mock_graph_find(model, false, &status);
    if (graph != NULL && strlen(graph->name) >= room) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "aclmdlRIGetName: maxLen is %u; the name needs %zu", room,
                         strlen(graph->name) + 1);
    }
    if (graph != NULL) {
        memcpy(name, graph->name, strlen(graph->name) + 1);
    }
    return status;
}
