/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Norms of vectors along some axes. Provided by libopapi.so (newer releases: libopapi_nn.so).
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_LINALG_VECTOR_NORM_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_LINALG_VECTOR_NORM_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An empty dims means all axes; dtype must be that of out. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnLinalgVectorNormGetWorkspaceSize(const aclTensor *self,
    const aclScalar *ord, const aclIntArray *dims, bool keepDims, const aclDataType dtype,
    aclTensor *out, uint64_t *workspaceSize, aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnLinalgVectorNorm(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
