/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Normalization of groups of channels. Provided by libopapi.so (newer releases: libopapi_nn.so).
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_GROUP_NORM_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_GROUP_NORM_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* gamma and beta may be NULL; N, C and HxW must match self. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnGroupNormGetWorkspaceSize(const aclTensor *self,
    const aclTensor *gamma, const aclTensor *beta, int64_t N, int64_t C, int64_t HxW,
    int64_t group, double eps, aclTensor *out, aclTensor *meanOut, aclTensor *rstdOut,
    uint64_t *workspaceSize, aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnGroupNorm(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
