/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes of the single-operator interface that came before aclnn, and running a compiled one.
 * Provided by libascendcl.so.
 */
#pragma once

#include <stdint.h>
#include "acl/acl_base.h"
#include "acl/acl_base_mdl.h"

ACL_STUBS_C_BEGIN

typedef enum aclEngineType {
    ACL_ENGINE_SYS = 0,
    ACL_ENGINE_AICORE = 1,
    ACL_ENGINE_VECTOR = 2,
} aclopEngineType;

typedef struct aclopAttr aclopAttr;

ACL_FUNC_VISIBILITY aclopAttr *aclopCreateAttr(void);
ACL_FUNC_VISIBILITY void aclopDestroyAttr(const aclopAttr *attr);

ACL_FUNC_VISIBILITY aclError aclopSetAttrBool(aclopAttr *attr, const char *attrName,
    uint8_t attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrInt(aclopAttr *attr, const char *attrName,
    int64_t attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrFloat(aclopAttr *attr, const char *attrName,
    float attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrString(aclopAttr *attr, const char *attrName,
    const char *attrValue);
ACL_FUNC_VISIBILITY aclError aclopSetAttrDataType(aclopAttr *attr, const char *attrName,
    aclDataType attrValue);

ACL_FUNC_VISIBILITY aclError aclopSetAttrListBool(aclopAttr *attr, const char *attrName,
    int numValues, const uint8_t *values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListInt(aclopAttr *attr, const char *attrName,
    int numValues, const int64_t *values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListFloat(aclopAttr *attr, const char *attrName,
    int numValues, const float *values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListListInt(aclopAttr *attr, const char *attrName,
    int numLists, const int *numValues, const int64_t *const *values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListString(aclopAttr *attr, const char *attrName,
    int numValues, const char **values);
ACL_FUNC_VISIBILITY aclError aclopSetAttrListDataType(aclopAttr *attr, const char *attrName,
    int numValues, const aclDataType *values);

ACL_FUNC_VISIBILITY aclError aclopExecute(const char *opType, int numInputs,
    const aclTensorDesc *const *inputDesc, const aclDataBuffer *const *inputs, int numOutputs,
    const aclTensorDesc *const *outputDesc, aclDataBuffer *const *outputs, const aclopAttr *attr,
    aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclopExecuteV2(const char *opType, int numInputs,
    aclTensorDesc **inputDesc, aclDataBuffer **inputs, int numOutputs, aclTensorDesc **outputDesc,
    aclDataBuffer **outputs, aclopAttr *attr, aclrtStream stream);

ACL_STUBS_C_END
