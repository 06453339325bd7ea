/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gradients of aclnnGroupNormSwish. Provided by libopapi.so.
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_GROUP_NORM_SWISH_GRAD_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_GROUP_NORM_SWISH_GRAD_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* mean and rstd come before x. No result may be NULL, not even one that is not required. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnGroupNormSwishGradGetWorkspaceSize(const aclTensor *dy,
    const aclTensor *mean, const aclTensor *rstd, const aclTensor *x, const aclTensor *gamma,
    const aclTensor *beta, int64_t numGroups, char *dataFormatOptional, double swishScale,
    bool dgammaIsRequire, bool dbetaIsRequire, const aclTensor *dxOut, const aclTensor *dgammaOut,
    const aclTensor *dbetaOut, uint64_t *workspaceSize, aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnGroupNormSwishGrad(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
