/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group normalization followed by SiLU, y / (1 + exp(-y)). Provided by libopapi.so.
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_GROUP_NORM_SILU_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_GROUP_NORM_SILU_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* gamma and beta may be NULL. The statistics are those of the normalization. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnGroupNormSiluGetWorkspaceSize(const aclTensor *self,
    const aclTensor *gamma, const aclTensor *beta, int64_t group, double eps, aclTensor *out,
    aclTensor *meanOut, aclTensor *rstdOut, uint64_t *workspaceSize, aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnGroupNormSilu(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

/* The same, with SiLU only if it is asked for. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnGroupNormSiluV2GetWorkspaceSize(const aclTensor *self,
    const aclTensor *gamma, const aclTensor *beta, int64_t group, double eps, bool activateSilu,
    aclTensor *out, aclTensor *meanOut, aclTensor *rstdOut, uint64_t *workspaceSize,
    aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnGroupNormSiluV2(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
