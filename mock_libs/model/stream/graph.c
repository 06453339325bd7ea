/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks, streams and memory of captured graphs. */
#include "graph.h"

#include <stdlib.h>

#include "address_space.h"
#include "error_message.h"
#include "pinned_memory.h"
#include "violation.h"

struct graph *mock_graph_new(void)
{
    static uint32_t next_id;
    struct graph *graph = calloc(1, sizeof *graph);
    if (graph != NULL) {
        graph->handle = mock_handle_new(MOCK_GRAPH, graph);
        graph->id = next_id++;
    }
    if (graph != NULL && graph->handle == NULL) {
        free(graph);
        return NULL;
    }
    return graph;
}

struct graph *mock_graph_find(const void *handle, bool destroying, aclError *status)
{
    struct graph *graph = mock_handle_get(handle, MOCK_GRAPH);
    *status = ACL_SUCCESS;
    if (graph == NULL) {
        mock_violate_handle(handle, MOCK_GRAPH, destroying);
        *status = mock_fail(ACL_ERROR_RT_INVALID_HANDLE,
                            "%p is no live graph: it was destroyed, or never was one", handle);
    }
    return graph;
}

void mock_graph_free(struct graph *graph)
{
    while (graph->first != NULL) {
        struct task *task = graph->first;
        graph->first = task->next;
        mock_task_free(task);
    }
    while (graph->lanes != NULL) {
        struct lane *lane = graph->lanes;
        graph->lanes = lane->next;
        free(lane);
    }
    while (graph->groups != NULL) {
        struct task_group *group = graph->groups;
        graph->groups = group->next;
        free(group);
    }
    while (graph->branches != NULL) {
        struct branch *branch = graph->branches;
        graph->branches = branch->next;
        free(branch);
    }
    mock_handle_close(graph->handle, MOCK_GRAPH);
    free(graph->memory_uses);
    free(graph);
}

struct lane *mock_graph_add_lane(struct graph *graph, void *stream)
{
    struct lane **link = &graph->lanes;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = calloc(1, sizeof **link);
    if (*link != NULL) {
        (*link)->graph = graph;
        (*link)->captured = stream;
    }
    return *link;
}

struct lane *mock_graph_lane(const struct graph *graph, const void *stream)
{
    struct lane *lane = graph->lanes;
    while (lane != NULL && lane->captured != stream) {
        lane = lane->next;
    }
    return lane;
}

void mock_graph_add(struct lane *lane, struct task *task)
{
    struct graph *graph = lane->graph;
    task->lane = lane;
    task->position = ++lane->count;
    if (graph->last == NULL) {
        graph->first = task;
    } else {
        graph->last->next = task;
    }
    graph->last = task;
}

static void forget_memory(struct graph *graph, const struct task *task)
{
    size_t kept = 0;
    for (size_t i = 0; i < graph->memory_use_count; i++) {
        if (graph->memory_uses[i].task != task) {
            graph->memory_uses[kept++] = graph->memory_uses[i];
        }
    }
    graph->memory_use_count = kept;
}

void mock_graph_exchange(struct task *task, struct task *other)
{
    struct task moved = *task;
    task->kind = other->kind;
    task->origin = other->origin;
    task->as = other->as;
    other->kind = moved.kind;
    other->as = moved.as;
    forget_memory(task->lane->graph, task);
    mock_graph_record_memory(task->lane, task);
}

void mock_graph_disable(struct task *task)
{
    struct task *done = calloc(1, sizeof *done);
    if (done != NULL) { /* a record of no event */
        done->kind = TASK_RECORD;
        done->origin = task->origin;
        mock_graph_exchange(task, done);
        mock_task_free(done);
    }
}

uint64_t mock_block_number(const void *address)
{
    const struct device *device = mock_device_of(address);
    const struct reservation *space = mock_space_of(address);
    const struct block *block = NULL;
    if (device == NULL) {
        block = mock_pinned_find(address);
    } else if (space == NULL) {
        block = mock_heap_find(&device->heap, address);
    } else {
        const struct mapping *mapping =
            mock_space_mapping_at(space, (uint64_t)((const uint8_t *)address - space->base));
        block = mapping == NULL ? NULL : &mapping->block;
    }
    return block == NULL ? 0 : block->number;
}

static bool make_room(struct graph *graph, size_t count)
{
    if (graph->memory_use_capacity - graph->memory_use_count >= count) {
        return true;
    }
    const size_t capacity = 2 * graph->memory_use_capacity + count;
    struct memory_use *larger = realloc(graph->memory_uses, capacity * sizeof *larger);
    if (larger != NULL) {
        graph->memory_uses = larger;
        graph->memory_use_capacity = capacity;
    }
    return larger != NULL;
}

void mock_graph_record_memory(const struct lane *lane, const struct task *task)
{
    struct graph *graph = lane->graph;
    struct mock_range own[2];
    const struct mock_range *ranges;
    const size_t count = mock_task_ranges(task, own, &ranges);
    if (!make_room(graph, count)) {
        graph->broken = ACL_ERROR_RT_MEMORY_ALLOCATION;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t number = mock_block_number(ranges[i].address);
        if (number != 0) { /* what is no live memory was reported when it was captured */
            graph->memory_uses[graph->memory_use_count++] =
                (struct memory_use){ranges[i].address, number, task->origin.function, task};
        }
    }
}
