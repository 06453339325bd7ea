/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that the two phases of an operator in a generated package (libcust_opapi.so) call: such
 * code declares them itself. Provided by libnnopbase.so. The two optional functions that compare a
 * call with earlier ones are not declared.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "aclnn/acl_meta.h"

#ifndef __cplusplus
#include <stdbool.h>
#endif

ACL_STUBS_C_BEGIN

typedef enum NnopbaseAttrDtype {
    kNnopbaseBool = 0,
    kNnopbaseFloat = 1,
    kNnopbaseInt = 2,
    kNnopbaseString = 3,
} NnopbaseAttrDtype;

/* Once for each operator; the space is never given back. */
ACL_FUNC_VISIBILITY aclnnStatus NnopbaseCreateExecutorSpace(void **space);
/* The descriptions have a byte for each parameter: whether it is optional. */
ACL_FUNC_VISIBILITY void *NnopbaseGetExecutor(void *space, const char *opType, char *inputsDesc,
    uint32_t inputNum, char *outputsDesc, uint32_t outputNum, char *attrsDesc, uint32_t attrsNum);
ACL_FUNC_VISIBILITY aclnnStatus NnopbaseAddTilingId(void *executor, void *tilingId);
#if ACL_STUBS_CANN >= 901
/* The number is that of op::GenOpTypeId, which packages of operators call once. */
ACL_FUNC_VISIBILITY aclnnStatus NnopbaseAddOpTypeId(void *executor, uint32_t opTypeId);
#endif

ACL_FUNC_VISIBILITY aclnnStatus NnopbaseAddInput(void *executor, const aclTensor *tensor,
    uint32_t index);
ACL_FUNC_VISIBILITY aclnnStatus NnopbaseAddDynamicInput(void *executor,
    const aclTensorList *tensorList, uint32_t index);
ACL_FUNC_VISIBILITY aclnnStatus NnopbaseAddOutput(void *executor, const aclTensor *tensor,
    uint32_t index);
ACL_FUNC_VISIBILITY aclnnStatus NnopbaseAddDynamicOutput(void *executor,
    const aclTensorList *tensorList, uint32_t index);
/* Adds a result whose shape the kernel determines. */
ACL_FUNC_VISIBILITY aclnnStatus NnopbaseAddOutputShapeDependTensor(void *executor,
    const aclTensor *tensor, uint32_t index);
ACL_FUNC_VISIBILITY aclnnStatus NnopbaseAddAttrWithDtype(void *executor, void *attrAddr,
    size_t attrLen, size_t index, NnopbaseAttrDtype dtype);
ACL_FUNC_VISIBILITY aclnnStatus NnopbaseAddIntArrayAttr(void *executor, const aclIntArray *array,
    size_t index);
ACL_FUNC_VISIBILITY aclnnStatus NnopbaseAddFloatArrayAttr(void *executor,
    const aclFloatArray *array, size_t index);
/* Names an input or an output. */
ACL_FUNC_VISIBILITY aclnnStatus NnopbaseAddParamName(void *executor, uint32_t index,
    const char *name, bool isInput);
ACL_FUNC_VISIBILITY aclnnStatus NnopbaseAddSupportList(void *executor, void *list,
    uint32_t *socSupportList, size_t socSupportListLen);

ACL_FUNC_VISIBILITY aclnnStatus NnopbaseRunForWorkspace(void *executor, uint64_t *workspaceLen);
ACL_FUNC_VISIBILITY aclnnStatus NnopbaseRunWithWorkspace(void *executor, aclrtStream stream,
    void *workspace, uint64_t workspaceSize);

ACL_FUNC_VISIBILITY uint64_t NnopbaseMsprofSysTime(void);
ACL_FUNC_VISIBILITY void NnopbaseReportApiInfo(const uint64_t beginTime, void *apiId);
/* A function of C++, NnopbaseOpLogE(int, char const *): what did not hold, and its code. */
ACL_FUNC_VISIBILITY void _Z14NnopbaseOpLogEiPKc(int code, const char *expression);

ACL_STUBS_C_END
