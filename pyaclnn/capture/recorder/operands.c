/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors, lists of them, and the tensors of an operator between its phases. */
#include "operands.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "locks.h"
#include "map.h"

static pthread_mutex_t *const lock = &capture_locks[CAPTURE_OPERANDS];
static struct capture_map tensors, lists, executors;

struct capture_operands *capture_operands_of(uint64_t executor)
{
    pthread_mutex_lock(lock);
    struct capture_operands *found = capture_map_find(&executors, executor);
    pthread_mutex_unlock(lock);
    return found;
}

void capture_create_tensor(const union mock_word *words, uint64_t handle)
{
    struct capture_tensor *made = calloc(1, sizeof *made);
    if (made == NULL || words[1].bits > CAPTURE_DIMENSIONS || handle == 0) {
        free(made);
        return;
    }
    made->handle = handle;
    made->rank = (uint32_t)words[1].bits;
    int64_t stride = 1;
    for (uint32_t i = made->rank; i-- > 0;) {
        memcpy(&made->dimensions[i], (const int64_t *)words[0].pointer + i, 8);
        made->strides[i] = stride;
        stride *= made->dimensions[i];
        if (words[3].pointer != NULL) {
            memcpy(&made->strides[i], (const int64_t *)words[3].pointer + i, 8);
        }
    }
    made->type = (int32_t)words[2].bits;
    made->element_size = capture_type_size(made->type);
    made->offset = (int64_t)words[4].bits;
    made->data = (uint8_t *)(uintptr_t)words[8].bits;
    pthread_mutex_lock(lock);
    capture_map_put(&tensors, handle, made);
    pthread_mutex_unlock(lock);
}

const uint8_t *capture_begin_of(const struct capture_tensor *tensor)
{
    return tensor->data + tensor->offset * (int64_t)tensor->element_size;
}

uint64_t capture_span(const struct capture_tensor *tensor)
{
    uint64_t elements = tensor->element_size == 0 ? 0 : 1;
    for (uint32_t i = 0; i < tensor->rank && elements != 0; i++) {
        if (tensor->dimensions[i] <= 0 || tensor->strides[i] < 0) {
            return 0;
        }
        elements += (uint64_t)((tensor->dimensions[i] - 1) * tensor->strides[i]);
    }
    return elements * tensor->element_size;
}

static void add_tensor(struct capture_operands **to, uint64_t handle, const struct capture_operand *as)
{
    const struct capture_tensor *tensor = capture_map_find(&tensors, handle);
    if (tensor == NULL || *to == NULL) {
        return;
    }
    if ((*to)->count == (*to)->capacity) {
        const uint32_t capacity = 2 * (*to)->capacity + 8;
        struct capture_operands *larger = realloc(*to, sizeof **to + capacity * sizeof(struct capture_operand));
        if (larger == NULL) {
            return;
        }
        *to = larger;
        larger->capacity = capacity;
    }
    struct capture_operand *operand = &(*to)->list[(*to)->count++];
    *operand = *as;
    operand->tensor = *tensor;
}

void capture_create_list(const union mock_word *words, uint64_t handle)
{
    struct capture_operands *made = calloc(1, sizeof *made);
    pthread_mutex_lock(lock);
    for (uint64_t i = 0; i < words[1].bits; i++) {
        uint64_t element;
        memcpy(&element, (const uint64_t *)words[0].pointer + i, sizeof element);
        add_tensor(&made, element, &(struct capture_operand){.element = (uint32_t)i});
    }
    capture_map_put(&lists, handle, made);
    pthread_mutex_unlock(lock);
}

void capture_note_operands(const struct capture_function *function, const union mock_word *words)
{
    struct capture_operands *made = calloc(1, sizeof *made);
    uint64_t executor;
    pthread_mutex_lock(lock);
    for (size_t i = 0; made != NULL && i + 2 < function->count; i++) {
        const struct capture_parameter *parameter = &function->parameters[i];
        struct capture_operand as = {.function = function, .parameter = (uint32_t)i, .place = (uint32_t)i};
        as.read = parameter->read;
        as.written = parameter->written;
        if (parameter->letter == 't') {
            add_tensor(&made, words[i].bits, &as);
        } else if (parameter->letter == 'T') {
            const struct capture_operands *list = capture_map_find(&lists, words[i].bits);
            for (uint32_t j = 0; list != NULL && j < list->count; j++) {
                as.element = list->list[j].element;
                add_tensor(&made, list->list[j].tensor.handle, &as);
            }
        }
    }
    if (made != NULL) {
        memcpy(&executor, words[function->count - 1].pointer, sizeof executor);
        capture_map_put(&executors, executor, made);
    }
    pthread_mutex_unlock(lock);
}

/* aclSet...TensorAddr: executor, index, tensor, address. */
void capture_set_address(const union mock_word *words)
{
    pthread_mutex_lock(lock);
    struct capture_operands *of = capture_map_find(&executors, words[0].bits);
    for (uint32_t i = 0; of != NULL && i < of->count; i++) {
        if (of->list[i].tensor.handle == words[2].bits) {
            of->list[i].tensor.data = (uint8_t *)(uintptr_t)words[3].bits;
        }
    }
    pthread_mutex_unlock(lock);
}

void capture_destroy(uint64_t handle)
{
    pthread_mutex_lock(lock);
    const struct capture_operands *list = capture_map_find(&lists, handle);
    for (uint32_t i = 0; list != NULL && i < list->count; i++) {
        capture_map_put(&tensors, list->list[i].tensor.handle, NULL);
    }
    capture_map_put(&tensors, handle, NULL);
    capture_map_put(&lists, handle, NULL);
    capture_map_put(&executors, handle, NULL);
    pthread_mutex_unlock(lock);
}
