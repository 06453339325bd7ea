/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layer normalization, backward. Provided by libopapi.so (newer releases: libopapi_nn.so).
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_LAYER_NORM_BACKWARD_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_LAYER_NORM_BACKWARD_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* outputMask: three booleans that select gradInputOut, gradWeightOut and gradBiasOut; an output
 * that is not selected may be NULL. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnLayerNormBackwardGetWorkspaceSize(const aclTensor *gradOut,
    const aclTensor *input, const aclIntArray *normalizedShape, const aclTensor *mean,
    const aclTensor *rstd, const aclTensor *weightOptional, const aclTensor *biasOptional,
    const aclBoolArray *outputMask, aclTensor *gradInputOut, aclTensor *gradWeightOut,
    aclTensor *gradBiasOut, uint64_t *workspaceSize, aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnLayerNormBackward(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
