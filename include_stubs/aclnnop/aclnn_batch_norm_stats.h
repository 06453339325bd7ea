/* SPDX-License-Identifier: Apache-2.0 */
/*
 * First step of a batch normalization over several devices: the statistics of one device's share.
 * Provided by libopapi.so.
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_BATCH_NORM_STATS_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_BATCH_NORM_STATS_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Both results are float32, whatever the type of input. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnBatchNormStatsGetWorkspaceSize(const aclTensor *input,
    double eps, aclTensor *mean, aclTensor *invstd, uint64_t *workspaceSize,
    aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnBatchNormStats(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
