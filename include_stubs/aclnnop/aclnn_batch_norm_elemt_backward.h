/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Last step of the gradient of a batch normalization over several devices. Provided by
 * libopapi.so.
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_BATCH_NORM_ELEMT_BACKWARD_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_BATCH_NORM_ELEMT_BACKWARD_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* sumDy and sumDyXmu are those of all devices; counter has the number of elements of each, in
 * any shape, and is only read. weight may be NULL. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnBatchNormElemtBackwardGetWorkspaceSize(
    const aclTensor *gradOut, const aclTensor *input, const aclTensor *mean,
    const aclTensor *invstd, const aclTensor *weight, const aclTensor *sumDy,
    const aclTensor *sumDyXmu, aclTensor *counter, aclTensor *gradInput, uint64_t *workspaceSize,
    aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnBatchNormElemtBackward(void *workspace,
    uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
