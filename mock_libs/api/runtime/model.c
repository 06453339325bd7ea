/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of offline models, which stay empty because no model is loaded.
 * Source: CANN: ge acl_model/model/model_om2.cpp. */
#include <stdlib.h>

#include "error_message.h"

struct aclmdlDesc {
    char name[ACL_MAX_TENSOR_NAME_LEN]; /* of no input or output */
};

aclmdlDesc *aclmdlCreateDesc(void)
{
    return calloc(1, sizeof(aclmdlDesc));
}

aclError aclmdlDestroyDesc(aclmdlDesc *modelDesc)
{
    free(modelDesc);
    return ACL_SUCCESS;
}

aclError aclmdlGetDesc(aclmdlDesc *modelDesc, uint32_t modelId)
{
    (void)modelDesc;
    return mock_fail(ACL_ERROR_INVALID_PARAM, "no model %u is loaded", modelId);
}

aclError aclmdlUnload(uint32_t modelId)
{
    return mock_fail(ACL_ERROR_GE_EXEC_MODEL_ID_INVALID, "no model %u is loaded", modelId);
}

size_t aclmdlGetNumInputs(aclmdlDesc *modelDesc)
{
    (void)modelDesc;
    return 0;
}

size_t aclmdlGetNumOutputs(aclmdlDesc *modelDesc)
{
    (void)modelDesc;
    return 0;
}

/* Queries about an input or output; a description here has none. */
#define GETTER(type, name, constant, nothing)             \
    type name(constant aclmdlDesc *modelDesc, size_t index) \
    {                                                     \
        (void)modelDesc;                                  \
        (void)index;                                      \
        return nothing;                                   \
    }
GETTER(size_t, aclmdlGetInputSizeByIndex, , 0)
GETTER(size_t, aclmdlGetOutputSizeByIndex, , 0)
GETTER(const char *, aclmdlGetInputNameByIndex, const, "")
GETTER(const char *, aclmdlGetOutputNameByIndex, const, "")
GETTER(aclFormat, aclmdlGetInputFormat, const, ACL_FORMAT_UNDEFINED)
GETTER(aclFormat, aclmdlGetOutputFormat, const, ACL_FORMAT_UNDEFINED)
GETTER(aclDataType, aclmdlGetInputDataType, const, ACL_DT_UNDEFINED)
GETTER(aclDataType, aclmdlGetOutputDataType, const, ACL_DT_UNDEFINED)

static aclError no_such(size_t index)
{
    return mock_fail(ACL_ERROR_INVALID_PARAM,
                     "index is %zu; the description has no inputs and outputs: no model is loaded",
                     index);
}

#define DIMENSIONS(name)                                                                 \
    aclError name(const aclmdlDesc *modelDesc, size_t index, aclmdlIODims *dims)         \
    {                                                                                    \
        (void)modelDesc;                                                                 \
        (void)dims;                                                                      \
        return no_such(index);                                                           \
    }
DIMENSIONS(aclmdlGetInputDims)
DIMENSIONS(aclmdlGetInputDimsV2)
DIMENSIONS(aclmdlGetOutputDims)
DIMENSIONS(aclmdlGetCurOutputDims)

#define INDEX_BY_NAME(function)                                                             \
    aclError function(const aclmdlDesc *modelDesc, const char *name, size_t *index)         \
    {                                                                                       \
        (void)modelDesc;                                                                    \
        (void)index;                                                                        \
        return mock_fail(ACL_ERROR_INVALID_PARAM,                                           \
                         "there is no '%.64s': the description is empty, no model is loaded", name); \
    }
INDEX_BY_NAME(aclmdlGetInputIndexByName)
INDEX_BY_NAME(aclmdlGetOutputIndexByName)
