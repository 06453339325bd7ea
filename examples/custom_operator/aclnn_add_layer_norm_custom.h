/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C interface of a custom operator: yOut = LayerNorm(x1 + x2) * gamma + beta over the last axis.
 */
#ifndef ACLNN_ADD_LAYER_NORM_CUSTOM_H_
#define ACLNN_ADD_LAYER_NORM_CUSTOM_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY aclnnStatus aclnnAddLayerNormCustomGetWorkspaceSize(const aclTensor *x1,
    const aclTensor *x2, const aclTensor *gamma, const aclTensor *beta, double epsilon,
    const aclTensor *yOut, uint64_t *workspaceSize, aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnAddLayerNormCustom(void *workspace, uint64_t workspaceSize,
    aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
