/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Root mean square normalization, forward. Provided by libopapi.so (newer releases:
 * libopapi_nn.so).
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_RMS_NORM_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_RMS_NORM_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Both outputs are required, and const although written to; epsilon is narrowed to float. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnRmsNormGetWorkspaceSize(const aclTensor *x,
    const aclTensor *gamma, double epsilon, const aclTensor *yOut, const aclTensor *rstdOut,
    uint64_t *workspaceSize, aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnRmsNorm(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
