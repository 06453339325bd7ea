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
};

/* The tensors of an operator between its phases, or of a list. */
struct capture_operands {
    bool repeatable;
    uint32_t count, capacity;
    struct capture_operand {
        struct capture_tensor tensor;
        const struct capture_function *function; /* NULL: in a list */
        uint32_t parameter, element;
        uint32_t place; /* the parameter's; in a graph, that among the tensors of all operators */
        bool read, written, drawn;
    } list[];
};

void capture_create_tensor(const union mock_word *words, uint64_t handle);
void capture_create_list(const union mock_word *words, uint64_t handle);
void capture_note_operands(const struct capture_function *function, const union mock_word *words);
void capture_set_address(const union mock_word *words);
struct capture_operands *capture_operands_of(uint64_t executor);
/* Where the first element lies. */
const uint8_t *capture_begin_of(const struct capture_tensor *tensor);
/* The bytes from the first element to the last in memory; 0 if there are none or it is unknown. */
uint64_t capture_span(const struct capture_tensor *tensor);
/* Forget a tensor, a list with its tensors, or an executor. */
void capture_destroy(uint64_t handle);
