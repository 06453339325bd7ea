/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First step of the gradient of a batch normalization over several devices: one device's sums.
 * Provided by libopapi.so.
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_BATCH_NORM_BACKWARD_REDUCE_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_BATCH_NORM_BACKWARD_REDUCE_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* inputG asks for sumDy and sumDyXmu, weightG for gradWeight, biasG for gradBias; what is not
 * asked for may be NULL. weight may be NULL and is not read. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnBatchNormReduceBackwardGetWorkspaceSize(
    const aclTensor *gradOut, const aclTensor *input, const aclTensor *mean,
    const aclTensor *invstd, const aclTensor *weight, const bool inputG, const bool weightG,
    const bool biasG, aclTensor *sumDy, aclTensor *sumDyXmu, aclTensor *gradWeight,
    aclTensor *gradBias, uint64_t *workspaceSize, aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnBatchNormReduceBackward(void *workspace,
    uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
