/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shortens the rows of a table that indices name to a largest norm, in place. Provided by
 * libopapi.so.
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_EMBEDDING_RENORM_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_EMBEDDING_RENORM_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A row that is named twice is shortened once. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnEmbeddingRenormGetWorkspaceSize(aclTensor *selfRef,
    const aclTensor *indices, double maxNorm, double normType, uint64_t *workspaceSize,
    aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnEmbeddingRenorm(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
