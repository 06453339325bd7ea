/* SPDX-License-Identifier: Apache-2.0 */
/* Replay of captured graphs. */
#include "replay.h"

#include "address_query.h"
#include "address_space.h"
#include "error_message.h"
#include "event.h"
#include "hazard.h"
#include "host_task.h"
#include "violation.h"

aclError mock_graph_create_streams(struct graph *graph, struct context *context)
{
    for (struct lane *lane = graph->lanes; lane != NULL; lane = lane->next) {
        const uint32_t limit = context->device->chip->streams;
        if (context->device->streams >= limit) {
            return mock_fail(ACL_ERROR_RT_NO_STREAM_RESOURCE,
                             "device %d has only %u streams, and a graph needs some of its own",
                             context->device->id, limit);
        }
        struct stream *stream = mock_stream_new(context);
        if (stream == NULL) {
            return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a stream");
        }
        stream->graph = graph->handle;
        lane->own = stream->handle;
    }
    return ACL_SUCCESS;
}

/* Captured work may use memory that was freed since, or reallocated. */
static void report_freed(const struct graph *graph)
{
    for (size_t i = 0; i < graph->memory_use_count; i++) {
        const struct memory_use *note = &graph->memory_uses[i];
        if (mock_block_number(note->address) == note->number) {
            continue;
        }
        struct mock_history history = {0};
        const struct device *device = mock_device_of(note->address);
        if (device != NULL) {
            mock_address_classify(device->id, note->address, 0, 0, &history);
        }
        mock_violate(MOCK_GRAPH_MEMORY_FREED, "memory", note->address, &history,
                     "%s was captured with this memory, which was freed before this replay",
                     note->function == NULL ? "a call" : note->function);
        return;
    }
}

static void free_all(struct task *task)
{
    while (task != NULL) {
        struct task *next = task->next;
        mock_task_free(task);
        task = next;
    }
}

/* The same tasks once more, in the same order; NULL with *good false: no memory. */
static struct task *copies_of(const struct graph *graph, bool *good)
{
    struct task *first = NULL, **link = &first;
    *good = true;
    for (const struct task *task = graph->first; task != NULL && *good; task = task->next) {
        *link = mock_stream_task(task->kind);
        *good = *link != NULL && mock_task_copy(*link, task);
        if (*link != NULL) {
            (*link)->lane = task->lane;
            (*link)->graph = graph->handle;
            link = &(*link)->next;
        }
    }
    if (!*good) {
        free_all(first);
        mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a replay");
    }
    return *good ? first : NULL;
}

/* Where each lane runs this time. false: the graph's own streams have ended with their context. */
static bool place_lanes(struct graph *graph, const struct stream *first)
{
    for (struct lane *lane = graph->lanes; lane != NULL; lane = lane->next) {
        struct stream *own = mock_handle_get(lane->own, MOCK_STREAM);
        if (own == NULL) {
            return false;
        }
        const struct stream *stream = lane == graph->lanes ? first : own;
        own->reports_to = first->handle;
        lane->replayed = stream->handle;
        lane->base = stream->submitted;
    }
    return true;
}

/* A task of an external event, queued: it acts on the event as it is now. */
static void queue_event(const struct stream *stream, struct task *task)
{
    void *handle = task->as.event.event;
    aclError status;
    struct event *event = mock_event_find(handle, &status);
    if (event == NULL) {
        return; /* it was destroyed, which is on record now */
    }
    if (task->kind == TASK_RECORD) {
        mock_event_queue_record(event, handle, stream->handle, task);
    } else if (task->kind == TASK_RESET) {
        mock_event_queue_reset(event, handle, task);
    } else {
        mock_event_queue_wait(event, handle, task);
    }
}

static void queue(const struct graph *graph, struct task *task)
{
    struct lane *lane = task->lane;
    struct stream *stream = mock_handle_get(lane->replayed, MOCK_STREAM);
    const bool of_event =
        task->kind == TASK_RECORD || task->kind == TASK_RESET || task->kind == TASK_WAIT;
    const bool external = of_event && task->as.event.event != NULL;
    if (task->kind == TASK_WAIT && !external) {
        const struct lane *source = mock_graph_lane(graph, task->as.event.source);
        task->as.event.source = source->replayed;
        task->as.event.position += source->base;
    }
    task->next = NULL;
    task->lane = NULL;
    mock_stream_append(stream, task);
    mock_host_task_queued(stream, task);
    if (external) {
        queue_event(stream, task);
    }
    mock_hazard_queued(stream, task);
}

aclError mock_graph_replay(struct graph *graph, struct stream *stream)
{
    stream = stream == NULL ? mock_handle_get(graph->lanes->own, MOCK_STREAM) : stream;
    if (stream == NULL || !place_lanes(graph, stream)) {
        return mock_fail(ACL_ERROR_RT_MODEL_CONTEXT,
                         "the context in which the graph was captured is gone");
    }
    bool good;
    struct task *task = copies_of(graph, &good);
    if (!good) {
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    report_freed(graph);
    while (task != NULL) {
        struct task *next = task->next;
        queue(graph, task);
        task = next;
    }
    return ACL_SUCCESS;
}

static bool belongs(const struct task *task, const void *graph)
{
    return task->graph == graph;
}

bool mock_graph_is_running(const struct graph *graph)
{
    uint64_t position;
    return mock_stream_find_task(belongs, graph->handle, NULL, &position) != NULL;
}

void mock_graph_destroy(struct graph *graph)
{
    for (const struct lane *lane = graph->lanes; lane != NULL; lane = lane->next) {
        struct stream *own = mock_handle_get(lane->own, MOCK_STREAM);
        if (own != NULL) {
            mock_stream_delete(own);
        }
    }
    mock_graph_free(graph);
}
