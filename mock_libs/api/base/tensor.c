/* SPDX-License-Identifier: Apache-2.0 */
/* Creation, change and queries of aclTensor. */
#include <stdlib.h>
#include <string.h>

#include "entry.h"
#include "error_message.h"
#include "handles.h"
#include "objects.h"
#include "violation.h"

static bool refuse_dims(const char *what, const int64_t *dims, uint64_t count)
{
    if (dims == NULL && count > 0) {
        mock_fail(ACLNN_ERR_PARAM_NULLPTR, "aclCreateTensor: %s is NULL with %llu dimensions",
                  what, (unsigned long long)count);
        return true;
    }
    if (count > MAX_DIMENSIONS) {
        mock_fail(ACLNN_ERR_PARAM_INVALID, "aclCreateTensor: %s has %llu dimensions, more than %d",
                  what, (unsigned long long)count, MAX_DIMENSIONS);
        return true;
    }
    return false;
}

static void copy_dims(int64_t *to, const int64_t *from, uint64_t count)
{
    if (count > 0) {
        memcpy(to, from, count * sizeof *to);
    }
}

static void set_contiguous(struct tensor *tensor)
{
    int64_t step = 1;
    for (uint32_t i = tensor->rank; i-- > 0;) {
        tensor->strides[i] = step;
        step = (int64_t)((uint64_t)step * (uint64_t)tensor->dims[i]);
    }
}

aclTensor *aclCreateTensor(const int64_t *viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t *stride, int64_t offset, aclFormat format,
                           const int64_t *storageDims, uint64_t storageDimsNum, void *tensorData)
{
    if (refuse_dims("viewDims", viewDims, viewDimsNum) ||
        refuse_dims("storageDims", storageDims, storageDimsNum)) {
        return NULL;
    }
    struct tensor *tensor = calloc(1, sizeof *tensor);
    if (tensor == NULL) {
        return NULL;
    }
    tensor->data_type = dataType;
    tensor->format = format;
    tensor->offset = offset;
    tensor->address = tensorData;
    tensor->rank = (uint32_t)viewDimsNum;
    tensor->storage_rank = (uint32_t)storageDimsNum;
    copy_dims(tensor->dims, viewDims, viewDimsNum);
    copy_dims(tensor->storage, storageDims, storageDimsNum);
    if (stride == NULL) {
        set_contiguous(tensor);
    } else {
        copy_dims(tensor->strides, stride, viewDimsNum);
    }
    mock_enter();
    void *handle = mock_handle_new(MOCK_TENSOR, tensor);
    mock_leave();
    if (handle == NULL) {
        free(tensor);
    }
    return handle;
}

static struct tensor *find(const aclTensor *handle, aclnnStatus *status)
{
    struct tensor *tensor = mock_handle_get(handle, MOCK_TENSOR);
    *status = ACLNN_SUCCESS;
    if (tensor == NULL) {
        mock_violate_handle(handle, MOCK_TENSOR, false);
        *status = mock_fail(ACLNN_ERR_PARAM_INVALID,
                            "%p is no live aclTensor: it was destroyed, or never was one",
                            (const void *)handle);
    }
    return tensor;
}

static void report_change(const aclTensor *handle)
{
    const unsigned needed = mock_handle_users(handle, false);
    if (needed > 0) {
        mock_violate_object(MOCK_OBJECT_CHANGED_BETWEEN_PHASES, MOCK_TENSOR, handle,
                            "%u executor%s phase 2 ahead with this tensor", needed,
                            needed == 1 ? " has" : "s have");
    }
}

static aclnnStatus change(aclTensor *handle, const struct tensor *changed, bool dims, bool strides,
                          bool storage)
{
    aclnnStatus status;
    struct tensor *tensor = find(handle, &status);
    if (tensor == NULL) {
        return status;
    }
    report_change(handle);
    tensor->data_type = changed->data_type;
    tensor->format = changed->format;
    tensor->offset = changed->offset;
    if (dims) {
        tensor->rank = changed->rank;
        memcpy(tensor->dims, changed->dims, sizeof tensor->dims);
        set_contiguous(tensor);
    }
    if (strides) {
        memcpy(tensor->strides, changed->strides, sizeof tensor->strides);
    }
    if (storage) {
        tensor->storage_rank = changed->storage_rank;
        memcpy(tensor->storage, changed->storage, sizeof tensor->storage);
    }
    if (changed->address != NULL) {
        tensor->address = changed->address;
    }
    return status;
}

aclnnStatus aclInitTensor(aclTensor *tensor, const int64_t *viewDims, uint64_t viewDimsNum,
                          aclDataType dataType, const int64_t *stride, int64_t offset,
                          aclFormat format, const int64_t *storageDims, uint64_t storageDimsNum,
                          void *tensorData)
{
    struct tensor changed = {.data_type = dataType,
                             .format = format,
                             .offset = offset,
                             .rank = (uint32_t)viewDimsNum,
                             .storage_rank = (uint32_t)storageDimsNum,
                             .address = tensorData};
    if (viewDimsNum > MAX_DIMENSIONS || storageDimsNum > MAX_DIMENSIONS) {
        return mock_fail(ACLNN_ERR_PARAM_INVALID, "aclInitTensor: more than %d dimensions",
                         MAX_DIMENSIONS);
    }
    copy_dims(changed.dims, viewDims, viewDims == NULL ? 0 : viewDimsNum);
    copy_dims(changed.strides, stride, stride == NULL ? 0 : viewDimsNum);
    copy_dims(changed.storage, storageDims, storageDims == NULL ? 0 : storageDimsNum);
    mock_enter();
    const aclnnStatus status =
        change(tensor, &changed, viewDims != NULL, stride != NULL, storageDims != NULL);
    mock_leave();
    return status;
}

static aclnnStatus address(const aclTensor *handle, void **get, void *set)
{
    aclnnStatus status;
    struct tensor *tensor = find(handle, &status);
    if (tensor != NULL && get != NULL) {
        *get = tensor->address;
    } else if (tensor != NULL) {
        report_change(handle);
        tensor->address = set;
    }
    return status;
}

aclnnStatus aclSetRawTensorAddr(aclTensor *tensor, void *addr)
{
    return address(tensor, NULL, addr);
}

aclnnStatus aclGetRawTensorAddr(const aclTensor *tensor, void **addr)
{
    return address(tensor, addr, NULL);
}

/* ---- getters ------------------------------------------------------------------------------ */

enum list { VIEW_SHAPE, VIEW_STRIDES, STORAGE_SHAPE };

extern void *_ZnamRKSt9nothrow_t(size_t size, const void *tag) __attribute__((weak));
extern const char _ZSt7nothrow __attribute__((weak)); /* no sanitizer has it: a library of C++ does */

/* Allocate by new[], which CANN does, where the program has C++: sanitizers and replaced operators
 * make a difference of it. C programs can only free it. */
static void *allocate_for_caller(size_t bytes)
{
    return &_ZSt7nothrow == NULL ? malloc(bytes) : _ZnamRKSt9nothrow_t(bytes, &_ZSt7nothrow);
}

static aclnnStatus get_list(const aclTensor *handle, enum list list, int64_t **items,
                            uint64_t *count)
{
    aclnnStatus status;
    const struct tensor *tensor = find(handle, &status);
    if (tensor == NULL) {
        return status;
    }
    const uint64_t length = list == STORAGE_SHAPE ? tensor->storage_rank : tensor->rank;
    const int64_t *source = list == VIEW_SHAPE     ? tensor->dims
                            : list == VIEW_STRIDES ? tensor->strides
                                                   : tensor->storage;
    int64_t *copy = allocate_for_caller((length + 1) * sizeof *copy);
    if (copy == NULL) {
        return mock_fail(ACLNN_ERR_INNER, "no host memory");
    }
    copy_dims(copy, source, length);
    *items = copy;
    *count = length;
    return ACLNN_SUCCESS;
}

aclnnStatus aclGetViewShape(const aclTensor *tensor, int64_t **viewDims, uint64_t *viewDimsNum)
{
    return get_list(tensor, VIEW_SHAPE, viewDims, viewDimsNum);
}

aclnnStatus aclGetViewStrides(const aclTensor *tensor, int64_t **stridesValue,
                              uint64_t *stridesNum)
{
    return get_list(tensor, VIEW_STRIDES, stridesValue, stridesNum);
}

aclnnStatus aclGetStorageShape(const aclTensor *tensor, int64_t **storageDims,
                               uint64_t *storageDimsNum)
{
    return get_list(tensor, STORAGE_SHAPE, storageDims, storageDimsNum);
}

aclnnStatus aclGetViewOffset(const aclTensor *handle, int64_t *offset)
{
    aclnnStatus status;
    const struct tensor *tensor = find(handle, &status);
    if (tensor != NULL) {
        *offset = tensor->offset;
    }
    return status;
}

aclnnStatus aclGetFormat(const aclTensor *handle, aclFormat *format)
{
    aclnnStatus status;
    const struct tensor *tensor = find(handle, &status);
    if (tensor != NULL) {
        *format = tensor->format;
    }
    return status;
}

aclnnStatus aclGetDataType(const aclTensor *handle, aclDataType *data_type)
{
    aclnnStatus status;
    const struct tensor *tensor = find(handle, &status);
    if (tensor != NULL) {
        *data_type = tensor->data_type;
    }
    return status;
}
