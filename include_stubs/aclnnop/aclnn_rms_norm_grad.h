/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Root mean square normalization, backward. Provided by libopapi.so (newer releases:
 * libopapi_nn.so).
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_RMS_NORM_GRAD_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_RMS_NORM_GRAD_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Both outputs are required, and const although they are written to; there is no epsilon and no
 * mask. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnRmsNormGradGetWorkspaceSize(const aclTensor *dy,
    const aclTensor *x, const aclTensor *rstd, const aclTensor *gamma, const aclTensor *dxOut,
    const aclTensor *dgammaOut, uint64_t *workspaceSize, aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnRmsNormGrad(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
