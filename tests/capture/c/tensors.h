/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that must succeed, and tensors of one axis. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "aclnn/acl_meta.h"

#define OK(expression)                                                                       \
    do {                                                                                     \
        const int status_ = (int)(expression);                                               \
        if (status_ != 0) {                                                                  \
            fprintf(stderr, "line %d: %s answered %d\n", __LINE__, #expression, status_);    \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

static aclTensor *tensor_of(int64_t count, void *memory)
{
    return aclCreateTensor(&count, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, &count, 1, memory);
}
