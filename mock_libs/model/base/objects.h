/* SPDX-License-Identifier: Apache-2.0 */
/* The objects of libnnopbase behind their handles. */
#pragma once

#include "aclnn/acl_meta.h"

/* CANN's own limit on the number of dimensions of a storage shape. */
enum { MAX_DIMENSIONS = 25 };

struct tensor {
    aclDataType data_type;
    aclFormat format;
    uint32_t rank, storage_rank;
    int64_t offset;
    int64_t dims[MAX_DIMENSIONS], strides[MAX_DIMENSIONS], storage[MAX_DIMENSIONS];
    void *address;
};

struct scalar {
    aclDataType data_type;
    uint32_t bytes;
    uint8_t value[16];
};

/* An array of integers, floats or booleans, or a list of handles. */
struct values {
    uint64_t count;
    union {
        int64_t *integers;
        void **handles;
        void *any;
    } items;
};
