/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor descriptions behind their handles. */
#pragma once

#include "acl/acl_base_mdl.h"
#include "objects.h"

struct dims {
    int count;
    int64_t values[MAX_DIMENSIONS];
};

/* Lows and highs of dimensions, or of values. */
struct ranges {
    size_t count;
    int64_t (*pairs)[2];
};

struct tensor_desc {
    aclDataType data_type;
    aclFormat format, storage_format;
    struct dims dims, storage; /* of the origin; as it lies in memory, count -1: the same */
    char *name, *dynamic_input;
    void *constant; /* a copy of a constant's bytes, or NULL */
    size_t constant_bytes;
    aclMemType placement;
    struct ranges shape_ranges, value_ranges;
};

/* The same bytes in memory of their own, or NULL; none take one byte. */
void *mock_copy_of(const void *bytes, size_t length);
/* Another description with the same content, or NULL: no memory. */
struct tensor_desc *mock_tensor_desc_copy(const struct tensor_desc *desc);
void mock_tensor_desc_free(struct tensor_desc *desc);
