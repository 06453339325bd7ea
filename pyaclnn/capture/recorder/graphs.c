/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs that are captured: their calls, and their tensors, which are those of each run. */
#include "graphs.h"

#include <stdlib.h>
#include <string.h>

enum { WRONG_THREAD = 107038 };

static size_t open_graphs;
static bool mixed; /* several were captured at a time: nobody knows whose an operator is */
static struct capture_object *drawn;
static uint64_t *captured; /* the streams where the open ones began */

bool capture_graph_is_open(void)
{
    return __atomic_load_n(&open_graphs, __ATOMIC_ACQUIRE) != 0;
}

bool capture_graph_takes(uint64_t stream)
{
    if (!capture_graph_is_open()) {
        return false;
    }
    int status = 0;
    void *graph = NULL;
    return capture_call(CAPTURE_GRAPH_INFO, stream, capture_address(&status), capture_address(&graph), 0, 0,
                        0) != 0 || status != 0;
}

void capture_graph_begin(uint64_t stream)
{
    uint64_t *larger = capture_memory(captured, (open_graphs + 1) * sizeof *captured);
    if (larger == NULL) {
        return;
    }
    captured = larger;
    captured[open_graphs] = stream;
    mixed = open_graphs != 0;
    drawn = drawn == NULL ? capture_make(NULL, NULL) : drawn;
    __atomic_store_n(&open_graphs, open_graphs + 1, __ATOMIC_RELEASE);
}

static bool is_same(const struct capture_tensor *a, const struct capture_tensor *b)
{
    const size_t bytes = a->rank * sizeof a->strides[0];
    return capture_begin_of(a) == capture_begin_of(b) && a->element_size == b->element_size && a->rank == b->rank &&
           memcmp(a->dimensions, b->dimensions, bytes) == 0 &&
           memcmp(a->strides, b->strides, bytes) == 0;
}

/* Where the bytes end that a tensor fills without gaps from a place in it; else that place. */
static const uint8_t *end_from(const struct capture_tensor *tensor, const uint8_t *place)
{
    const uint8_t *begin = capture_begin_of(tensor), *end = begin + capture_span(tensor);
    uint64_t bytes = tensor->element_size;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        bytes *= (uint64_t)tensor->dimensions[i];
    }
    return bytes == capture_span(tensor) && begin <= place && place < end ? end : place;
}

/* True if operators before have written all of a tensor. */
static bool is_written(const struct capture_tensor *tensor, const struct capture_operand *list,
                       uint32_t count)
{
    const uint8_t *at = capture_begin_of(tensor), *end = at + capture_span(tensor), *from = NULL;
    while (from != at) {
        from = at;
        for (uint32_t i = 0; i < count; i++) {
            if (list[i].written && is_same(&list[i].tensor, tensor)) {
                return true;
            }
            at = list[i].written ? end_from(&list[i].tensor, at) : at;
        }
    }
    return capture_span(tensor) != 0 && at >= end;
}

/* True if a tensor that is written leaves another no result: it fills it, or is of another type. */
static bool replaces(const struct capture_operand *by, const struct capture_tensor *other)
{
    const uint8_t *begin = capture_begin_of(&by->tensor), *end = begin + capture_span(&by->tensor);
    const bool overlaps = begin < capture_begin_of(other) + capture_span(other) && capture_begin_of(other) < end;
    return by->written &&
           (is_written(other, by, 1) || (by->tensor.type != other->type && overlaps));
}

/* Add the tensors of an operator, numbered through the graph. */
static void add(struct capture_operands **to, const struct capture_operands *of)
{
    const uint32_t count = *to == NULL ? 0 : (*to)->count;
    for (uint32_t i = 0; i < of->count; i++) {
        struct capture_operand one = of->list[i];
        one.place = count + i;
        one.drawn = true;
        /* A result of the graph is no input of it. */
        one.read = one.read && !(count != 0 && is_written(&one.tensor, (*to)->list, count));
        capture_add_operand(to, &one);
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = count; j < (*to)->count; j++) {
            struct capture_operand *older = &(*to)->list[i];
            older->written = older->written && !replaces(&(*to)->list[j], &older->tensor);
        }
    }
}

void capture_graph_draw(struct capture_object *call, const struct capture_operands *of)
{
    if (drawn != NULL) {
        capture_need(drawn, call);
        if (of != NULL) {
            add(&drawn->operands, of);
        }
    }
}

void capture_graph_end(uint64_t stream, int32_t status, uint64_t graph, uint64_t context)
{
    size_t at = 0;
    while (at < open_graphs && captured[at] != stream) {
        at++;
    }
    if (status == WRONG_THREAD || at == open_graphs) {
        return;
    }
    captured[at] = captured[open_graphs - 1];
    __atomic_store_n(&open_graphs, open_graphs - 1, __ATOMIC_RELEASE);
    if (open_graphs != 0 || drawn == NULL) {
        return;
    }
    if (mixed) {
        free(drawn->operands);
        drawn->operands = NULL;
    }
    if (graph == 0) {
        capture_release(drawn);
    } else {
        drawn->context = context;
        capture_name(drawn, graph);
    }
    drawn = NULL;
    mixed = false;
}
