/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layer normalization of a scaled tensor plus another (DeepNet). Provided by libopapi.so.
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_DEEP_NORM_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_DEEP_NORM_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclnnStatus aclnnDeepNormGetWorkspaceSize(const aclTensor *x,
    const aclTensor *gx, const aclTensor *beta, const aclTensor *gamma, double alpha,
    double epsilon, const aclTensor *meanOut, const aclTensor *rstdOut, const aclTensor *yOut,
    uint64_t *workspaceSize, aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnDeepNorm(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
