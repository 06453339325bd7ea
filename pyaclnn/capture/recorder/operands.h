/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors, lists of them, and the tensors of an operator between its phases. */
#pragma once

#include <stdbool.h>

#include "functions.h"
#include "registers.h"

enum { CAPTURE_DIMENSIONS = 8 };

struct capture_tensor {
    uint64_t handle;
    uint8_t *data;
    int64_t dimensions[CAPTURE_DIMENSIONS], strides[CAPTURE_DIMENSIONS], offset;
    uint32_t rank, element_size; /* 0: of a kind that is not copied */
    int32_t type;
    bool unknown;    /* only its handle is known */
    bool is_private; /* of a format in which elements lie in an order of its own, maybe padded */
};

/* The tensors of an operator between its phases, of a list, of a graph, or one tensor. */
struct capture_operands {
    uint32_t count;
    struct capture_operand {
        struct capture_tensor tensor;
        const struct capture_function *function; /* NULL: in a list */
        uint32_t parameter, element;
        uint32_t place; /* the parameter's; in a graph, that among the tensors of all operators */
        bool read, written, drawn;
    } list[];
};

/* Make them, from the arguments of the call that makes their object; the lock of the objects is held. */
struct capture_operands *capture_tensor(const union mock_word *words, uint64_t handle);
struct capture_operands *capture_list(const uint64_t *elements, uint64_t count);
struct capture_operands *capture_given(const struct capture_function *function,
                                       const union mock_word *words);
void capture_add_operand(struct capture_operands **to, const struct capture_operand *operand);
void capture_set_address(struct capture_operands *of, const union mock_word *words);
/* Where the first element lies. */
const uint8_t *capture_begin_of(const struct capture_tensor *tensor);
/* The bytes from the first element to the last in memory; 0 if there are none or it is unknown. */
uint64_t capture_span(const struct capture_tensor *tensor);
