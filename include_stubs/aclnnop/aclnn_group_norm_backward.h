/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gradients of aclnnGroupNorm. Provided by libopapi.so.
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_GROUP_NORM_BACKWARD_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_GROUP_NORM_BACKWARD_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* gamma may be NULL; a result may be where outputMask is false. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnGroupNormBackwardGetWorkspaceSize(const aclTensor *gradOut,
    const aclTensor *input, const aclTensor *mean, const aclTensor *rstd, const aclTensor *gamma,
    int64_t N, int64_t C, int64_t HxW, int64_t group, const aclBoolArray *outputMask,
    aclTensor *gradInput, aclTensor *gradGammaOut, aclTensor *gradBetaOut,
    uint64_t *workspaceSize, aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnGroupNormBackward(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
