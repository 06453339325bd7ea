/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of the single-operator interface behind their handles. */
#pragma once

#include "acl/acl_op.h"
#include "tensor_desc.h"

struct data_buffer {
    void *data;
    size_t bytes;
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
