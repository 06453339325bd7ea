/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that are captured into graphs: their tensors are those of each run of the graph. */
#include "graphs.h"

#include <stdlib.h>
#include <string.h>

#include "locks.h"
#include "map.h"

enum { WRONG_THREAD = 107038 };

static pthread_mutex_t *const lock = &capture_locks[CAPTURE_GRAPHS];
static size_t open_graphs;
static bool mixed; /* several were captured at a time: nobody knows whose an operator is */
static struct capture_operands *drawn;
static struct capture_map graphs, captured; /* captured: the streams where the open ones began */

bool capture_graph_is_open(void)
{
    return __atomic_load_n(&open_graphs, __ATOMIC_ACQUIRE) != 0;
}

bool capture_graph_takes(uint64_t stream)
{
    if (!capture_graph_is_open()) {
        return false;
    }
    int (*ask)(uint64_t, int *, void **), status = 0;
    void *address = capture_real("aclmdlRICaptureGetInfo"), *graph = NULL;
    memcpy(&ask, &address, sizeof ask);
    return address == NULL || ask(stream, &status, &graph) != 0 || status != 0;
}

/* Note that a stream is captured, or no more; the lock is held. */
static void set_captured(uint64_t stream, bool is)
{
    capture_map_put(&captured, stream, is ? calloc(1, 1) : NULL);
    __atomic_store_n(&open_graphs, captured.count, __ATOMIC_RELEASE);
}

void capture_graph_begin(uint64_t stream)
{
    pthread_mutex_lock(lock);
    mixed = captured.count != 0;
    set_captured(stream, true);
    pthread_mutex_unlock(lock);
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

/* Whether operators before have written all of a tensor. */
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

/* Whether a tensor that is written leaves another no result: it fills it, or is of another type. */
static bool replaces(const struct capture_operand *by, const struct capture_tensor *other)
{
    const uint8_t *begin = capture_begin_of(&by->tensor), *end = begin + capture_span(&by->tensor);
    const bool overlaps = begin < capture_begin_of(other) + capture_span(other) && capture_begin_of(other) < end;
    return by->written &&
           (is_written(other, by, 1) || (by->tensor.type != other->type && overlaps));
}

/* Add an operator; its tensors are numbered through the graph. */
void capture_graph_draw(const struct capture_operands *of)
{
    pthread_mutex_lock(lock);
    const uint32_t count = drawn == NULL ? 0 : drawn->count, all = count + of->count;
    struct capture_operands *made = calloc(1, sizeof *made + all * sizeof made->list[0]);
    for (uint32_t i = 0; made != NULL && i < all; i++) {
        struct capture_operand *one = &made->list[i];
        *one = i < count ? drawn->list[i] : of->list[i - count];
        if (i >= count) {
            one->place = i;
            one->drawn = true;
            /* What the graph computes itself is no input of it. */
            one->read = one->read && !is_written(&one->tensor, made->list, count);
        }
    }
    for (uint32_t i = 0; made != NULL && i < count; i++) {
        for (uint32_t j = count; j < all; j++) {
            struct capture_operand *older = &made->list[i];
            older->written = older->written && !replaces(&made->list[j], &older->tensor);
        }
    }
    if (made != NULL) {
        made->count = all;
        free(drawn);
        drawn = made;
    }
    pthread_mutex_unlock(lock);
}

void capture_graph_end(uint64_t stream, int32_t status, uint64_t graph)
{
    pthread_mutex_lock(lock);
    if (status != WRONG_THREAD && capture_map_find(&captured, stream) != NULL) {
        set_captured(stream, false);
        if (captured.count == 0) {
            if (mixed || graph == 0) {
                free(drawn);
                drawn = NULL;
            }
            capture_map_put(&graphs, graph, drawn);
            drawn = NULL;
            mixed = false;
        }
    }
    pthread_mutex_unlock(lock);
}

const struct capture_operands *capture_graph_of(uint64_t graph)
{
    pthread_mutex_lock(lock);
    const struct capture_operands *found = capture_map_find(&graphs, graph);
    pthread_mutex_unlock(lock);
    return found;
}

void capture_graph_destroy(uint64_t graph)
{
    pthread_mutex_lock(lock);
    capture_map_put(&graphs, graph, NULL);
    pthread_mutex_unlock(lock);
}
