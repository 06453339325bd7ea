/* SPDX-License-Identifier: Apache-2.0 */
/* Tensor descriptions. */
#include <stdlib.h>
#include <string.h>

#include "data_type.h"
#include "error_message.h"
#include "tensor_desc.h"
#include "violation.h"

static bool set_dims(struct dims *dims, int count, const int64_t *values)
{
    const bool good = count >= 0 && count <= MAX_DIMENSIONS && (count == 0 || values != NULL);
    if (good) {
        dims->count = count;
        memcpy(dims->values, values == NULL ? dims->values : values,
               (size_t)count * sizeof dims->values[0]);
    } else {
        mock_fail(ACL_ERROR_INVALID_PARAM, "%d dimensions at %p; there may be 0 to %d", count,
                  (const void *)values, MAX_DIMENSIONS);
    }
    return good;
}

aclTensorDesc *aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t *dims,
                                   aclFormat format)
{
    struct tensor_desc *desc = calloc(1, sizeof *desc);
    void *handle = NULL;
    if (desc != NULL && set_dims(&desc->dims, numDims, dims)) {
        desc->data_type = dataType;
        desc->format = desc->storage_format = format;
        desc->storage.count = -1;
        handle = mock_handle_new(MOCK_TENSOR_DESC, desc);
    }
    if (handle == NULL) {
        free(desc);
    }
    return handle;
}

void aclDestroyTensorDesc(const aclTensorDesc *handle)
{
    struct tensor_desc *desc = mock_handle_close(handle, MOCK_TENSOR_DESC);
    if (desc == NULL) {
        mock_violate_handle(handle, MOCK_TENSOR_DESC, true);
        return;
    }
    mock_tensor_desc_free(desc);
}

static struct tensor_desc *find(const aclTensorDesc *handle)
{
    struct tensor_desc *desc = mock_handle_get(handle, MOCK_TENSOR_DESC);
    if (desc == NULL) {
        mock_violate_handle(handle, MOCK_TENSOR_DESC, false);
    }
    return desc;
}

static aclError refuse(const aclTensorDesc *handle)
{
    return mock_fail(ACL_ERROR_INVALID_PARAM, "%p is no live aclTensorDesc", (const void *)handle);
}

/* ---- queries ------------------------------------------------------------------------------ */

aclDataType aclGetTensorDescType(const aclTensorDesc *handle)
{
    const struct tensor_desc *desc = find(handle);
    return desc == NULL ? ACL_DT_UNDEFINED : desc->data_type;
}

aclFormat aclGetTensorDescFormat(const aclTensorDesc *handle)
{
    const struct tensor_desc *desc = find(handle);
    return desc == NULL ? ACL_FORMAT_UNDEFINED : desc->format;
}

static size_t element_count(const aclTensorDesc *handle)
{
    const struct tensor_desc *desc = find(handle);
    int64_t count = desc == NULL ? 0 : 1;
    for (int i = 0; desc != NULL && i < desc->dims.count; i++) {
        if (desc->dims.values[i] < 0 ||
            __builtin_mul_overflow(count, desc->dims.values[i], &count)) {
            return 0;
        }
    }
    return (size_t)count;
}

size_t aclGetTensorDescElementCount(const aclTensorDesc *handle)
{
    return element_count(handle);
}

size_t aclGetTensorDescSize(const aclTensorDesc *handle)
{
    const struct tensor_desc *desc = find(handle);
    return desc == NULL ? 0 : element_count(handle) * mock_data_type_size(desc->data_type);
}

size_t aclGetTensorDescNumDims(const aclTensorDesc *handle)
{
    enum { UNKNOWN = -2 };
    const struct tensor_desc *desc = find(handle);
    const bool unknown =
        desc != NULL && desc->dims.count > 0 && desc->dims.values[0] == UNKNOWN;
    return unknown ? (size_t)ACL_UNKNOWN_RANK : desc == NULL ? 0 : (size_t)desc->dims.count;
}

int64_t aclGetTensorDescDim(const aclTensorDesc *handle, size_t index)
{
    const struct tensor_desc *desc = find(handle);
    return desc == NULL || index >= (size_t)desc->dims.count ? -1 : desc->dims.values[index];
}

aclError aclGetTensorDescDimV2(const aclTensorDesc *handle, size_t index, int64_t *dimSize)
{
    const struct tensor_desc *desc = find(handle);
    if (desc == NULL) {
        return refuse(handle);
    }
    if (index >= (size_t)desc->dims.count) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "dimension %zu of %d", index, desc->dims.count);
    }
    *dimSize = desc->dims.values[index];
    return ACL_SUCCESS;
}

aclError aclGetTensorDescDimRange(const aclTensorDesc *handle, size_t index, size_t dimRangeNum,
                                  int64_t *dimRange)
{
    const struct tensor_desc *desc = find(handle);
    if (desc == NULL) {
        return refuse(handle);
    }
    if (index >= desc->shape_ranges.count || dimRangeNum < ACL_TENSOR_SHAPE_RANGE_NUM) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "range %zu of %zu, into %zu numbers", index,
                         desc->shape_ranges.count, dimRangeNum);
    }
    memcpy(dimRange, desc->shape_ranges.pairs[index], sizeof desc->shape_ranges.pairs[index]);
    return ACL_SUCCESS;
}

const char *aclGetTensorDescName(aclTensorDesc *handle)
{
    const struct tensor_desc *desc = find(handle);
    return desc == NULL || desc->name == NULL ? "" : desc->name;
}

void *aclGetTensorDescAddress(const aclTensorDesc *handle)
{
    const struct tensor_desc *desc = find(handle);
    return desc == NULL ? NULL : desc->constant;
}

/* Descriptions of a model lie in an array; here each has a handle of its own. */
aclTensorDesc *aclGetTensorDescByIndex(aclTensorDesc *handle, size_t index)
{
    if (find(handle) == NULL || index > 0) {
        mock_fail(ACL_ERROR_INVALID_PARAM, "there is no description %zu behind %p", index,
                  (void *)handle);
        return NULL;
    }
    return handle;
}

/* ---- changes ------------------------------------------------------------------------------ */

static aclError copy_text(char **to, const char *text)
{
    char *copy = strdup(text == NULL ? "" : text);
    if (copy == NULL) {
        return mock_fail(ACL_ERROR_BAD_ALLOC, "no host memory for a name");
    }
    free(*to);
    *to = copy;
    return ACL_SUCCESS;
}

void aclSetTensorDescName(aclTensorDesc *handle, const char *name)
{
    struct tensor_desc *desc = find(handle);
    if (desc != NULL) {
        copy_text(&desc->name, name);
    }
}

aclError aclSetTensorDynamicInput(aclTensorDesc *handle, const char *dynamicInputName)
{
    struct tensor_desc *desc = find(handle);
    return desc == NULL ? refuse(handle) : copy_text(&desc->dynamic_input, dynamicInputName);
}

/* In CANN a NULL description is no error of these. */
static aclError set_format(aclTensorDesc *handle, aclFormat format, bool storage)
{
    struct tensor_desc *desc = handle == NULL ? NULL : find(handle);
    if (desc != NULL) {
        *(storage ? &desc->storage_format : &desc->format) = format;
    }
    return handle != NULL && desc == NULL ? refuse(handle) : ACL_SUCCESS;
}

aclError aclSetTensorFormat(aclTensorDesc *handle, aclFormat format)
{
    return set_format(handle, format, true);
}

aclError aclSetTensorStorageFormat(aclTensorDesc *handle, aclFormat format)
{
    return set_format(handle, format, true);
}

aclError aclSetTensorOriginFormat(aclTensorDesc *handle, aclFormat format)
{
    return set_format(handle, format, false);
}

static aclError set_shape(aclTensorDesc *handle, int count, const int64_t *values, bool storage)
{
    struct tensor_desc *desc = find(handle);
    if (desc == NULL) {
        return refuse(handle);
    }
    return set_dims(storage ? &desc->storage : &desc->dims, count, values) ? ACL_SUCCESS
                                                                           : ACL_ERROR_INVALID_PARAM;
}

aclError aclSetTensorShape(aclTensorDesc *handle, int numDims, const int64_t *dims)
{
    return set_shape(handle, numDims, dims, true);
}

aclError aclSetTensorStorageShape(aclTensorDesc *handle, int numDims, const int64_t *dims)
{
    return set_shape(handle, numDims, dims, true);
}

aclError aclSetTensorOriginShape(aclTensorDesc *handle, int numDims, const int64_t *dims)
{
    return set_shape(handle, numDims, dims, false);
}

static aclError set_ranges(aclTensorDesc *handle, size_t count, acl_stubs_range *pairs, bool values)
{
    struct tensor_desc *desc = find(handle);
    if (desc == NULL) {
        return refuse(handle);
    }
    struct ranges *ranges = values ? &desc->value_ranges : &desc->shape_ranges;
    void *copy = mock_copy_of(pairs, pairs == NULL ? 0 : count * sizeof *pairs);
    if (copy == NULL) {
        return ACL_ERROR_BAD_ALLOC;
    }
    free(ranges->pairs);
    *ranges = (struct ranges){pairs == NULL ? 0 : count, copy};
    return ACL_SUCCESS;
}

aclError aclSetTensorShapeRange(aclTensorDesc *handle, size_t dimsCount,
                                acl_stubs_range *dimsRange)
{
    return set_ranges(handle, dimsCount, dimsRange, false);
}

aclError aclSetTensorValueRange(aclTensorDesc *handle, size_t valueCount,
                                acl_stubs_range *valueRange)
{
    return set_ranges(handle, valueCount, valueRange, true);
}

aclError aclSetTensorConst(aclTensorDesc *handle, void *dataBuffer, size_t length)
{
    struct tensor_desc *desc = find(handle);
    void *copy = desc == NULL ? NULL : mock_copy_of(dataBuffer, length);
    if (copy == NULL) {
        return desc == NULL ? refuse(handle) : ACL_ERROR_BAD_ALLOC;
    }
    free(desc->constant);
    desc->constant = copy;
    desc->constant_bytes = length;
    return ACL_SUCCESS;
}

aclError aclSetTensorPlaceMent(aclTensorDesc *handle, aclMemType memType)
{
    struct tensor_desc *desc = find(handle);
    if (desc == NULL) {
        return refuse(handle);
    }
    desc->placement = memType;
    return ACL_SUCCESS;
}
