/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Last step of a batch normalization over several devices: normalizes with given statistics.
 * Provided by libopapi.so.
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_BATCH_NORM_ELEMT_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_BATCH_NORM_ELEMT_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* weight and bias may be NULL. mean and invstd are only read. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnBatchNormElemtGetWorkspaceSize(const aclTensor *input,
    const aclTensor *weight, const aclTensor *bias, aclTensor *mean, aclTensor *invstd, double eps,
    aclTensor *output, uint64_t *workspaceSize, aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnBatchNormElemt(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
