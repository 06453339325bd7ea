/* SPDX-License-Identifier: Apache-2.0 */
/* An operator that takes everything that operators take, and one that takes a single tensor. */
#pragma once

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* outs[i] = xs[i] * weights[i] + bias, where both are given; selfRef += alpha. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnEverythingGetWorkspaceSize(const aclTensorList *xs,
    const aclTensor *biasOptional, const aclScalar *alpha, const aclScalarList *weights,
    const aclIntArray *counts, const aclFloatArray *shifts, const aclBoolArray *flags,
    const char *mode, bool on, int8_t small, int32_t medium, int64_t large, uint64_t huge,
    float narrow, double wide, aclDataType kind, aclTensor *selfRef, aclTensorList *outs,
    uint64_t *workspaceSize, aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnEverything(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

/* x += 1. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceIncrementGetWorkspaceSize(aclTensor *selfRef,
    uint64_t *workspaceSize, aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnInplaceIncrement(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif
