/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gradients of aclnnDeepNorm. Provided by libopapi.so.
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_DEEP_NORM_GRAD_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_DEEP_NORM_GRAD_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclnnStatus aclnnDeepNormGradGetWorkspaceSize(const aclTensor *dy,
    const aclTensor *x, const aclTensor *gx, const aclTensor *gamma, const aclTensor *mean,
    const aclTensor *rstd, double alpha, const aclTensor *dxOut, const aclTensor *dgxOut,
    const aclTensor *dbetaOut, const aclTensor *dgammaOut, uint64_t *workspaceSize,
    aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnDeepNormGrad(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
