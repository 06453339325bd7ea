/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors, lists of them, and the tensors of an operator between its phases. */
#include "operands.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "objects.h"

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

void capture_add_operand(struct capture_operands **to, const struct capture_operand *operand)
{
    const uint32_t count = *to == NULL ? 0 : (*to)->count;
    if ((count & (count - 1)) == 0) { /* full: a power of two, or none */
        const size_t capacity = count == 0 ? 1 : 2 * (size_t)count;
        struct capture_operands *larger =
            capture_memory(*to, sizeof **to + capacity * sizeof *operand);
        if (larger == NULL) {
            return;
        }
        *to = larger;
    }
    (*to)->list[count] = *operand;
    (*to)->count = count + 1;
}

/* True if elements of an aclFormat lie as the strides say. */
static bool is_plain(int32_t format)
{
    static const int8_t PLAIN[] = {-1, 0, 1, 2, 16, 27, 30, 35, 47}; /* ND, and letters in an order */
    return memchr(PLAIN, format, sizeof PLAIN) != NULL && format == (int8_t)format;
}

struct capture_operands *capture_tensor(const union mock_word *words, uint64_t handle)
{
    struct capture_operand operand = {0};
    struct capture_tensor *made = &operand.tensor;
    made->handle = handle;
    made->unknown = words[1].bits > CAPTURE_DIMENSIONS;
    made->rank = made->unknown ? 0 : (uint32_t)words[1].bits;
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
    made->element_size = made->unknown ? 0 : capture_type_size(made->type);
    made->is_private = !is_plain((int32_t)words[5].bits);
    made->offset = (int64_t)words[4].bits;
    made->data = (uint8_t *)(uintptr_t)words[8].bits;
    struct capture_operands *operands = NULL;
    capture_add_operand(&operands, &operand);
    return operands;
}

/* Add the tensors of an object. */
static void add(struct capture_operands **to, uint64_t handle, const struct capture_operand *as)
{
    const struct capture_object *object = capture_find(handle);
    const struct capture_operands *of = object == NULL ? NULL : object->operands;
    if (object == NULL && handle != 0) {
        struct capture_operand operand = *as;
        operand.tensor = (struct capture_tensor){.handle = handle, .unknown = true, .type = -1};
        capture_add_operand(to, &operand);
    }
    for (uint32_t i = 0; of != NULL && i < of->count; i++) {
        struct capture_operand operand = *as;
        operand.tensor = of->list[i].tensor;
        operand.element = as->element + of->list[i].element;
        capture_add_operand(to, &operand);
    }
}

struct capture_operands *capture_list(const uint64_t *elements, uint64_t count)
{
    struct capture_operands *made = NULL;
    for (uint64_t i = 0; i < count; i++) {
        add(&made, elements[i], &(struct capture_operand){.element = (uint32_t)i});
    }
    return made;
}

struct capture_operands *capture_given(const struct capture_function *function,
                                       const union mock_word *words)
{
    struct capture_operands *made = NULL;
    for (uint32_t i = 0; i + 2 < function->count; i++) {
        const struct capture_parameter *parameter = &function->parameters[i];
        struct capture_operand as = {.function = function, .parameter = i, .place = i};
        as.read = parameter->read;
        as.written = parameter->written;
        if (parameter->letter == 't' || parameter->letter == 'T') {
            add(&made, words[i].bits, &as);
        }
    }
    return made;
}

/* aclSet...TensorAddr: executor, index, tensor, address. */
void capture_set_address(struct capture_operands *of, const union mock_word *words)
{
    for (uint32_t i = 0; of != NULL && i < of->count; i++) {
        if (of->list[i].tensor.handle == words[2].bits) {
            of->list[i].tensor.data = (uint8_t *)(uintptr_t)words[3].bits;
        }
    }
}
