/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Normalization of each channel of each sample. Provided by libopapi.so.
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_INSTANCE_NORM_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_INSTANCE_NORM_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dataFormat is "NCHW" or "NHWC". variance is the biased one, without eps. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnInstanceNormGetWorkspaceSize(const aclTensor *x,
    const aclTensor *gamma, const aclTensor *beta, const char *dataFormat, double eps,
    aclTensor *y, aclTensor *mean, aclTensor *variance, uint64_t *workspaceSize,
    aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnInstanceNorm(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
