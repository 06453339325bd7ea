/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch normalization, for training and inference. Provided by libopapi.so (newer releases:
 * libopapi_nn.so).
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_BATCH_NORM_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_BATCH_NORM_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Training updates runningMean and runningVar in place; without it the last two outputs may be
 * NULL. weight, bias and the running pair may be NULL always. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnBatchNormGetWorkspaceSize(const aclTensor *input,
    const aclTensor *weight, const aclTensor *bias, aclTensor *runningMean,
    aclTensor *runningVar, bool training, double momentum, double eps, aclTensor *output,
    aclTensor *saveMean, aclTensor *saveInvstd, uint64_t *workspaceSize,
    aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnBatchNorm(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
