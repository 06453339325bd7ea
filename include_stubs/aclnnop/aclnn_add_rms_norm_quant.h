/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addition, root mean square normalization of the sum, and quantization of that by one or two
 * scales. Provided by libopapi.so (newer releases: libopapi_nn.so).
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_ADD_RMS_NORM_QUANT_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_ADD_RMS_NORM_QUANT_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Each input after scales1 may be NULL; y2Out may not, although nothing is written to it without
 * scales2Optional. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnAddRmsNormQuantGetWorkspaceSize(const aclTensor *x1,
    const aclTensor *x2, const aclTensor *gamma, const aclTensor *scales1,
    const aclTensor *scales2Optional, const aclTensor *zeroPoints1Optional,
    const aclTensor *zeroPoints2Optional, int64_t axis, double epsilon, bool divMode,
    const aclTensor *y1Out, const aclTensor *y2Out, const aclTensor *xOut,
    uint64_t *workspaceSize, aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnAddRmsNormQuant(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
