/* SPDX-License-Identifier: Apache-2.0 */
/* Operators that are captured into graphs: their tensors are those of each run of the graph. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"
#include "operands.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t open_graphs;
static bool mixed; /* several were captured at a time: nobody knows whose an operator is */
static struct capture_operands *drawn;
static struct capture_map graphs;

bool capture_graph_is_open(void)
{
    return __atomic_load_n(&open_graphs, __ATOMIC_ACQUIRE) != 0;
}

void capture_graph_begin(void)
{
    pthread_mutex_lock(&lock);
    mixed = open_graphs++ != 0;
    pthread_mutex_unlock(&lock);
}

static bool is_written(const struct capture_tensor *tensor)
{
    for (uint32_t i = 0; drawn != NULL && i < drawn->count; i++) {
        const struct capture_operand *other = &drawn->list[i];
        if (other->written && other->tensor.data == tensor->data && other->tensor.offset == tensor->offset) {
            return true;
        }
    }
    return false;
}

/* Add an operator; its tensors are numbered through the graph. */
void capture_graph_draw(const struct capture_operands *of)
{
    pthread_mutex_lock(&lock);
    const uint32_t count = drawn == NULL ? 0 : drawn->count, all = count + of->count;
    struct capture_operands *made = calloc(1, sizeof *made + all * sizeof made->list[0]);
    for (uint32_t i = 0; made != NULL && i < all; i++) {
        made->list[i] = i < count ? drawn->list[i] : of->list[i - count];
        if (i >= count) {
            made->list[i].parameter = i;
            made->list[i].element = 0;
            /* What the graph computes itself is no input of it. */
            made->list[i].read = made->list[i].read && !is_written(&made->list[i].tensor);
        }
    }
    if (made != NULL) {
        made->count = all;
        free(drawn);
        drawn = made;
    }
    pthread_mutex_unlock(&lock);
}

void capture_graph_end(uint64_t graph)
{
    pthread_mutex_lock(&lock);
    if (open_graphs != 0 && --open_graphs == 0) {
        if (mixed) {
            free(drawn);
            drawn = NULL;
        }
        capture_map_put(&graphs, graph, drawn);
        drawn = NULL;
        mixed = false;
    }
    pthread_mutex_unlock(&lock);
}

const struct capture_operands *capture_graph_of(uint64_t graph)
{
    pthread_mutex_lock(&lock);
    const struct capture_operands *found = capture_map_find(&graphs, graph);
    pthread_mutex_unlock(&lock);
    return found;
}

void capture_graph_destroy(uint64_t graph)
{
    pthread_mutex_lock(&lock);
    capture_map_put(&graphs, graph, NULL);
    pthread_mutex_unlock(&lock);
}
