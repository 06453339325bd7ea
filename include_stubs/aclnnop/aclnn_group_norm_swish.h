/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group normalization followed by swish, y / (1 + exp(-swishScale * y)). Provided by libopapi.so.
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_GROUP_NORM_SWISH_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_GROUP_NORM_SWISH_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* dataFormatOptional may be NULL and is not looked at. mean and rstd have the type of gamma. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnGroupNormSwishGetWorkspaceSize(const aclTensor *x,
    const aclTensor *gamma, const aclTensor *beta, int64_t numGroups, char *dataFormatOptional,
    double eps, bool activateSwish, double swishScale, const aclTensor *yOut,
    const aclTensor *meanOut, const aclTensor *rstdOut, uint64_t *workspaceSize,
    aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnGroupNormSwish(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
