/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor descriptions as they are copied and freed. */
#include "tensor_desc.h"

#include <stdlib.h>
#include <string.h>

#include "error_message.h"

void *mock_copy_of(const void *bytes, size_t length)
{
    void *copy = malloc(length + 1);
    if (copy == NULL) {
        mock_fail(ACL_ERROR_BAD_ALLOC, "no host memory for %zu bytes", length);
    } else if (length > 0) {
        memcpy(copy, bytes, length);
    }
    return copy;
}

void mock_tensor_desc_free(struct tensor_desc *desc)
{
    free(desc->name);
    free(desc->dynamic_input);
    free(desc->constant);
    free(desc->shape_ranges.pairs);
    free(desc->value_ranges.pairs);
    free(desc);
}

/* false: no memory. */
static bool copy_content(void **content, size_t bytes)
{
    *content = *content == NULL ? NULL : mock_copy_of(*content, bytes);
    return *content != NULL;
}

struct tensor_desc *mock_tensor_desc_copy(const struct tensor_desc *desc)
{
    struct tensor_desc *copy = malloc(sizeof *copy);
    if (copy == NULL) {
        return NULL;
    }
    *copy = *desc;
    const struct {
        void **content;
        size_t bytes;
    } owned[] = {
        {(void **)&copy->name, desc->name == NULL ? 0 : strlen(desc->name) + 1},
        {(void **)&copy->dynamic_input,
         desc->dynamic_input == NULL ? 0 : strlen(desc->dynamic_input) + 1},
        {&copy->constant, desc->constant_bytes},
        {(void **)&copy->shape_ranges.pairs,
         desc->shape_ranges.count * sizeof *desc->shape_ranges.pairs},
        {(void **)&copy->value_ranges.pairs,
         desc->value_ranges.count * sizeof *desc->value_ranges.pairs},
    };
    bool good = true;
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++) {
        const bool given = *owned[i].content != NULL;
        good &= copy_content(owned[i].content, owned[i].bytes) || !given;
    }
    if (!good) {
        mock_tensor_desc_free(copy);
    }
    return good ? copy : NULL;
}
