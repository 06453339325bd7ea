/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gradients of aclnnAddLayerNorm. Provided by libopapi.so.
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_ADD_LAYER_NORM_GRAD_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_ADD_LAYER_NORM_GRAD_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* rstd comes before mean; dsumOptional, the gradient of the sum from elsewhere, may be NULL. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnAddLayerNormGradGetWorkspaceSize(const aclTensor *dy,
    const aclTensor *x1, const aclTensor *x2, const aclTensor *rstd, const aclTensor *mean,
    const aclTensor *gamma, const aclTensor *dsumOptional, const aclTensor *dxOut,
    const aclTensor *dgammaOut, const aclTensor *dbetaOut, uint64_t *workspaceSize,
    aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnAddLayerNormGrad(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
