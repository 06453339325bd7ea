/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Root mean square normalization with a scale of 1 + gamma. Provided by libopapi.so.
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_GEMMA_RMS_NORM_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_GEMMA_RMS_NORM_H_
#include "aclnn/acl_meta.h"
#ifdef __cplusplus
extern "C" {
#endif
ACL_FUNC_VISIBILITY aclnnStatus aclnnGemmaRmsNormGetWorkspaceSize(const aclTensor *x,
    const aclTensor *gamma, double epsilon, const aclTensor *yOut, const aclTensor *rstdOut,
    uint64_t *workspaceSize, aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnGemmaRmsNorm(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);
#ifdef __cplusplus
}
#endif
#endif
