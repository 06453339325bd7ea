/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Root-mean-square normalization of the sum of two tensors, quantized row by row. Provided by
 * libopapi.so.
 */
#ifndef INCLUDE_STUBS_ACLNNOP_ACLNN_ADD_RMS_NORM_DYNAMIC_QUANT_H_
#define INCLUDE_STUBS_ACLNNOP_ACLNN_ADD_RMS_NORM_DYNAMIC_QUANT_H_

#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The second result is computed if there are both smooth scales; else y2Out and scale2Out have
 * one element, which is not written. */
ACL_FUNC_VISIBILITY aclnnStatus aclnnAddRmsNormDynamicQuantGetWorkspaceSize(const aclTensor *x1,
    const aclTensor *x2, const aclTensor *gamma, const aclTensor *smoothScale1Optional,
    const aclTensor *smoothScale2Optional, double epsilon, const aclTensor *y1Out,
    const aclTensor *y2Out, const aclTensor *xOut, const aclTensor *scale1Out,
    const aclTensor *scale2Out, uint64_t *workspaceSize, aclOpExecutor **executor);
ACL_FUNC_VISIBILITY aclnnStatus aclnnAddRmsNormDynamicQuant(void *workspace,
    uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif
