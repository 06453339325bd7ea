/* SPDX-License-Identifier: Apache-2.0 */
/* Single tasks of graphs, groups of them that are given other arguments, and descriptions.
 * Source: CANN: runtime aclrt_impl/model_ri.cpp, kernel.cpp, context_aclgraph.cc. */
#include <stdio.h>
#include <stdlib.h>

#include "error_message.h"
#include "graph.h"
#include "stream.h"

/* ---- look-up ------------------------------------------------------------------------------ */

struct search {
    const void *what;
    struct graph *graph;
    struct task *task;
    struct lane *lane;
};

static void look(const struct mock_live_object *living, void *data)
{
    struct search *search = data;
    struct graph *graph = living->kind == MOCK_GRAPH
                              ? mock_handle_get(living->handle, MOCK_GRAPH)
                              : NULL;
    for (struct task *task = graph == NULL ? NULL : graph->first; task != NULL;
         task = task->next) {
        if (task == search->what || task->lane->captured == search->what) {
            search->graph = graph;
            search->task = task == search->what ? task : search->task;
            search->lane = task->lane;
        }
    }
}

static struct task *find(aclmdlRITask handle, aclError *status)
{
    struct search search = {.what = handle};
    mock_handles_visit(look, &search);
    *status = search.task != NULL
                  ? ACL_SUCCESS
                  : mock_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is no task of a graph", handle);
    return search.task;
}

aclError aclmdlRIGetTasksByStream(aclrtStream stream, aclmdlRITask *tasks, uint32_t *numTasks)
{
    struct search search = {.what = stream};
    uint32_t count = 0;
    mock_handles_visit(look, &search);
    if (stream == NULL || search.lane == NULL) {
        return mock_fail(ACL_ERROR_RT_STREAM_MODEL, "%p is a stream of no graph with tasks", stream);
    }
    for (struct task *task = search.graph->first; task != NULL; task = task->next) {
        if (task->lane == search.lane) {
            if (tasks != NULL && count < *numTasks) {
                tasks[count] = task;
            }
            count++;
        }
    }
    if (tasks != NULL && count > *numTasks) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "numTasks is %u; the stream has %u tasks",
                         *numTasks, count);
    }
    *numTasks = count;
    return ACL_SUCCESS;
}

/* ---- what they are ------------------------------------------------------------------------ */

static const struct {
    const char *name;
    aclmdlRITaskType type;
} KINDS[] = {
    [TASK_KERNEL] = {"kernel", ACL_MODEL_RI_TASK_KERNEL},
    [TASK_HOST] = {"kernel", ACL_MODEL_RI_TASK_KERNEL},
    [TASK_COPY] = {"copy", ACL_MODEL_RI_TASK_DEFAULT},
    [TASK_FILL] = {"fill", ACL_MODEL_RI_TASK_DEFAULT},
    [TASK_RECORD] = {"event record", ACL_MODEL_RI_TASK_EVENT_RECORD},
    [TASK_WAIT] = {"event wait", ACL_MODEL_RI_TASK_EVENT_WAIT},
    [TASK_RESET] = {"event reset", ACL_MODEL_RI_TASK_EVENT_RESET},
    [TASK_CALLBACK] = {"callback", ACL_MODEL_RI_TASK_DEFAULT},
    [TASK_NOTIFY_RECORD] = {"notify record", ACL_MODEL_RI_TASK_DEFAULT},
    [TASK_NOTIFY_WAIT] = {"notify wait", ACL_MODEL_RI_TASK_DEFAULT},
    [TASK_VALUE_WRITE] = {"value write", ACL_MODEL_RI_TASK_VALUE_WRITE},
    [TASK_VALUE_WAIT] = {"value wait", ACL_MODEL_RI_TASK_VALUE_WAIT},
    [TASK_BRANCH] = {"branch", ACL_MODEL_RI_TASK_DEFAULT},
};

aclError aclmdlRITaskGetType(aclmdlRITask handle, aclmdlRITaskType *type)
{
    aclError status;
    const struct task *task = find(handle, &status);
    if (task != NULL) {
        *type = KINDS[task->kind].type;
    }
    return status;
}

aclError aclmdlRITaskGetSeqId(aclmdlRITask handle, uint32_t *id)
{
    aclError status;
    const struct task *task = find(handle, &status);
    if (task != NULL) {
        *id = (uint32_t)task->position;
    }
    return status;
}

aclError aclmdlRITaskDisable(aclmdlRITask handle)
{
    aclError status;
    struct task *task = find(handle, &status);
    if (task != NULL && task->kind != TASK_KERNEL) {
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "only a kernel is disabled, no %s",
                         KINDS[task->kind].name);
    }
    if (task != NULL) {
        mock_graph_disable(task);
    }
    return status;
}

/* A task whose parameters are known here: a value written or waited for. */
static struct task *find_value(aclmdlRITask handle, aclError *status)
{
    struct task *task = find(handle, status);
    if (task != NULL && task->kind != TASK_VALUE_WRITE && task->kind != TASK_VALUE_WAIT) {
        *status = mock_fail(MOCK_NOT_IMPLEMENTED,
                            "the simulated NPU gives parameters of values that are written or "
                            "waited for, and of no %s",
                            KINDS[task->kind].name);
        task = NULL;
    }
    return task;
}

aclError aclmdlRITaskGetParams(aclmdlRITask handle, aclmdlRITaskParams *params)
{
    aclError status;
    const struct task *task = find_value(handle, &status);
    if (task == NULL) {
        return status;
    }
    *params = (aclmdlRITaskParams){.type = KINDS[task->kind].type};
    if (task->kind == TASK_VALUE_WRITE) {
        params->valueWriteTaskParams =
            (aclmdlRIValueWriteTaskParams){task->as.value.address, task->as.value.value};
    } else {
        params->valueWaitTaskParams = (aclmdlRIValueWaitTaskParams){
            task->as.value.address, task->as.value.value, task->as.value.condition};
    }
    return ACL_SUCCESS;
}

aclError aclmdlRITaskSetParams(aclmdlRITask handle, aclmdlRITaskParams *params)
{
    aclError status;
    struct task *task = find_value(handle, &status);
    if (task == NULL) {
        return status;
    }
    if (params->type != KINDS[task->kind].type) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "type is %d; the task's is %d",
                         (int)params->type, (int)KINDS[task->kind].type);
    }
    if (task->kind == TASK_VALUE_WRITE) {
        task->as.value.address = params->valueWriteTaskParams.devAddr;
        task->as.value.value = params->valueWriteTaskParams.value;
    } else {
        task->as.value.address = params->valueWaitTaskParams.devAddr;
        task->as.value.value = params->valueWaitTaskParams.value;
        task->as.value.condition = params->valueWaitTaskParams.flag;
    }
    return ACL_SUCCESS;
}

/* Changes hold from the next execution on, with or without it. */
aclError aclmdlRIUpdate(aclmdlRI model)
{
    aclError status;
    mock_graph_find(model, false, &status);
    return status;
}

/* ---- groups ------------------------------------------------------------------------------- */

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream handle)
{
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    if (stream->lane == NULL || stream->lane->graph->built) {
        return mock_fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "stream %d is not being captured",
                         stream->id);
    }
    if (stream->lane->group_begins) {
        return mock_fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "a group of tasks begins inside another");
    }
    stream->lane->group_begins = true;
    stream->lane->group_first = stream->lane->count + 1;
    return ACL_SUCCESS;
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream handle, aclrtTaskGrp *given)
{
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    struct lane *lane = stream->lane;
    if (lane == NULL || !lane->group_begins) {
        return mock_fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "no group of tasks has begun on stream %d",
                         stream->id);
    }
    struct task_group *group = malloc(sizeof *group);
    if (group == NULL) {
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a group");
    }
    *group = (struct task_group){lane->graph->groups, lane, lane->group_first, lane->count};
    lane->graph->groups = group;
    lane->group_begins = false;
    *given = group;
    return ACL_SUCCESS;
}

static void look_for_group(const struct mock_live_object *living, void *data)
{
    const void **search = data;
    const struct graph *graph = living->kind == MOCK_GRAPH
                                    ? mock_handle_get(living->handle, MOCK_GRAPH)
                                    : NULL;
    for (const struct task_group *group = graph == NULL ? NULL : graph->groups; group != NULL;
         group = group->next) {
        search[1] = group == search[0] ? group : search[1];
    }
}

/* Work for the stream is not run: it goes to a graph that ends with the update. */
aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream handle, aclrtTaskGrp which)
{
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    const void *search[2] = {which, NULL};
    mock_handles_visit(look_for_group, search);
    if (stream == NULL) {
        return status;
    }
    if (search[1] == NULL || stream->lane != NULL ||
        ((const struct task_group *)search[1])->lane->graph->capturing) {
        return mock_fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                         "%p must be a group of a captured graph, and stream %d not be captured or "
                         "updating",
                         which, stream->id);
    }
    struct graph *scratch = mock_graph_new();
    struct lane *lane = scratch == NULL ? NULL : mock_graph_add_lane(scratch, handle);
    if (lane == NULL) {
        if (scratch != NULL) {
            mock_graph_free(scratch);
        }
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for an update");
    }
    scratch->context = stream->context->handle;
    scratch->updates = which;
    scratch->capturing = true;
    stream->lane = lane;
    return ACL_SUCCESS;
}

/* The task of a position in a part, or NULL. */
static struct task *task_at(const struct lane *lane, uint64_t position)
{
    struct task *task = lane->graph->first;
    while (task != NULL && (task->lane != lane || task->position != position)) {
        task = task->next;
    }
    return task;
}

static aclError check_update(const struct task_group *group, const struct lane *by)
{
    bool same = group->last + 1 - group->first == by->count;
    for (uint64_t i = 1; same && i <= by->count; i++) {
        same = task_at(by, i)->kind == task_at(group->lane, group->first + i - 1)->kind;
    }
    return same ? ACL_SUCCESS
                : mock_fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS,
                            "the update has %llu tasks; they must be those of the group, %llu, of "
                            "the same kinds",
                            (unsigned long long)by->count,
                            (unsigned long long)(group->last + 1 - group->first));
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream handle)
{
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    struct lane *by = stream->lane;
    if (by == NULL || by->graph->updates == NULL) {
        return mock_fail(ACL_ERROR_STREAM_TASK_GROUP_STATUS, "stream %d updates no group", stream->id);
    }
    struct task_group *group = by->graph->updates;
    status = check_update(group, by);
    for (uint64_t i = 1; status == ACL_SUCCESS && i <= by->count; i++) {
        mock_graph_exchange(task_at(group->lane, group->first + i - 1), task_at(by, i));
    }
    stream->lane = NULL;
    mock_graph_free(by->graph);
    return status;
}

/* ---- descriptions ------------------------------------------------------------------------- */

static const char *name_of(const struct task *task)
{
    return task->origin.function == NULL ? KINDS[task->kind].name : task->origin.function;
}

aclError aclmdlRIDebugPrint(aclmdlRI model)
{
    aclError status;
    const struct graph *graph = mock_graph_find(model, false, &status);
    if (graph == NULL) {
        return status;
    }
    printf("digraph model_%u {\n", graph->id);
    for (const struct task *task = graph->first; task != NULL; task = task->next) {
        printf("  task_%p [label=\"%s\"];\n", (const void *)task, name_of(task));
        const struct task *before = task_at(task->lane, task->position - 1);
        if (before != NULL) {
            printf("  task_%p -> task_%p;\n", (const void *)before, (const void *)task);
        }
    }
    puts("}");
    fflush(stdout);
    return ACL_SUCCESS;
}

aclError aclmdlRIDebugJsonPrint(aclmdlRI model, const char *path, uint32_t flags)
{
    aclError status;
    const struct graph *graph = mock_graph_find(model, false, &status);
    if (graph == NULL) {
        return status;
    }
    if (flags > ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "flags is %u; it must be 0 or 1", flags);
    }
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        return mock_fail(ACL_ERROR_INVALID_FILE, "cannot write '%.300s'", path);
    }
    fprintf(file, "{\"modelId\": %u, \"tasks\": [", graph->id);
    for (const struct task *task = graph->first; task != NULL; task = task->next) {
        unsigned stream = 0;
        for (const struct lane *lane = graph->lanes; lane != task->lane; lane = lane->next) {
            stream++;
        }
        fprintf(file, "%s\n  {\"stream\": %u, \"task\": %llu, \"kind\": \"%s\", \"name\": \"%s\"}",
                task == graph->first ? "" : ",", stream, (unsigned long long)task->position,
                KINDS[task->kind].name, name_of(task));
    }
    const bool written = fputs("\n]}\n", file) >= 0;
    return fclose(file) == 0 && written
               ? ACL_SUCCESS
               : mock_fail(ACL_ERROR_INVALID_FILE, "cannot write '%.300s'", path);
}
