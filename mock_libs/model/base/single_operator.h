/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of the single-operator interface behind their handles. */
#pragma once

#include "acl/acl_op.h"
#include "objects.h"

struct data_buffer {
    void *data;
    size_t bytes;
};

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

static inline bool is_among(aclFormat format, const aclFormat *formats, size_t count)
{
    bool found = false;
    for (size_t i = 0; i < count; i++) {
        found |= formats[i] == format;
    }
    return found;
}

/* A tensor in blocks, of which the description has the dimensions of the origin as well; with
 * channels behind, the NPU's kernels do not read it. */
static inline bool is_blocked(const struct tensor_desc *desc)
{
    static const aclFormat DENSE[] = {
        ACL_FORMAT_ND,        ACL_FORMAT_NCHW, ACL_FORMAT_NCDHW, ACL_FORMAT_NC,   ACL_FORMAT_NCL,
        ACL_FORMAT_UNDEFINED, ACL_FORMAT_NHWC, ACL_FORMAT_NDHWC, ACL_FORMAT_HWCN,
    };
    enum { CHANNELS_IN_FRONT = 5 };
    return is_among(desc->format, DENSE, CHANNELS_IN_FRONT) &&
           !is_among(desc->storage_format, DENSE, sizeof DENSE / sizeof DENSE[0]);
}

/* One attribute of a list of them. `tag`: that of the wire, for the values that follow. */
struct op_attribute {
    struct op_attribute *next;
    char *name; /* with a leading '@', which tells attributes from tensors in a message */
    char tag;
    uint64_t count;
    void *values;
};

struct op_attributes {
    struct op_attribute *first;
};

/* Another description with the same content, or NULL: there is none, or no memory. */
aclTensorDesc *mock_tensor_desc_copy(const aclTensorDesc *handle);
