/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addition and root mean square normalization of the sum. Provided by libopapi.so (newer releases:
 * libopapi_nn.so).
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_ADD_RMS_NORM_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_ADD_RMS_NORM_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All three outputs are required, and const although written to; epsilon is narrowed to float. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnAddRmsNormGetWorkspaceSize(const aclTensor *x1,
    const aclTensor *x2, const aclTensor *gamma, double epsilon, const aclTensor *yOut,
    const aclTensor *rstdOut, const aclTensor *xOut, uint64_t *workspaceSize,
    aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnAddRmsNorm(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
