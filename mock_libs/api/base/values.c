/* SPDX-License-Identifier: Apache-2.0 */
/* Creation, size and destruction of scalars, arrays and lists. */
#include <stdlib.h>
#include <string.h>

#include "data_type.h"
#include "entry.h"
#include "error_message.h"
#include "handles.h"
#include "objects.h"
#include "violation.h"

/* ---- destroying --------------------------------------------------------------------------- */

static void destroy_elements(struct values *list, enum mock_kind element)
{
    for (uint64_t i = 0; i < list->count; i++) {
        const void *handle = list->items.handles[i];
        if (handle != NULL && mock_handle_get(handle, element) == NULL) {
            mock_violate_object(MOCK_LIST_ELEMENT_DESTROYED, element, handle,
                                "element %llu was destroyed before its list",
                                (unsigned long long)i);
        }
        mock_handle_mark(handle, MOCK_MARK_LISTED);
        free(mock_handle_close(handle, element));
    }
}

static aclnnStatus destroy(const void *handle, enum mock_kind kind)
{
    if (handle == NULL) {
        return ACLNN_SUCCESS;
    }
    const unsigned needed = mock_handle_users(handle, true);
    if (needed > 0 && mock_handle_get(handle, kind) != NULL) {
        mock_violate(MOCK_OBJECT_DESTROYED_WHILE_REPEATABLE, mock_kind_name(kind), handle, NULL,
                     "%u repeatable executor%s this %s", needed, needed == 1 ? " needs" : "s need",
                     mock_kind_name(kind));
    }
    void *object = mock_handle_close(handle, kind);
    if (object == NULL) {
        mock_violate_handle(handle, kind, true);
        return mock_fail(ACLNN_ERR_PARAM_INVALID,
                         "%p is no live %s: it was destroyed, or never was one", handle,
                         mock_kind_name(kind));
    }
    if (kind == MOCK_TENSOR_LIST || kind == MOCK_SCALAR_LIST) {
        destroy_elements(object, kind == MOCK_TENSOR_LIST ? MOCK_TENSOR : MOCK_SCALAR);
    }
    if (kind != MOCK_TENSOR && kind != MOCK_SCALAR) {
        free(((struct values *)object)->items.any);
    }
    free(object);
    return ACLNN_SUCCESS;
}

aclnnStatus aclDestroyTensor(const aclTensor *tensor)
{
    return destroy(tensor, MOCK_TENSOR);
}

aclnnStatus aclDestroyScalar(const aclScalar *scalar)
{
    return destroy(scalar, MOCK_SCALAR);
}

aclnnStatus aclDestroyIntArray(const aclIntArray *array)
{
    return destroy(array, MOCK_INT_ARRAY);
}

aclnnStatus aclDestroyFloatArray(const aclFloatArray *array)
{
    return destroy(array, MOCK_FLOAT_ARRAY);
}

aclnnStatus aclDestroyBoolArray(const aclBoolArray *array)
{
    return destroy(array, MOCK_BOOL_ARRAY);
}

aclnnStatus aclDestroyTensorList(const aclTensorList *array)
{
    return destroy(array, MOCK_TENSOR_LIST);
}

aclnnStatus aclDestroyScalarList(const aclScalarList *array)
{
    return destroy(array, MOCK_SCALAR_LIST);
}

/* ---- creating ----------------------------------------------------------------------------- */

/* A NULL pointer makes a valid empty array, whatever the size. */
static void *create(enum mock_kind kind, const void *items, uint64_t count, size_t item)
{
    struct values *values = calloc(1, sizeof *values);
    if (values == NULL) {
        return NULL;
    }
    values->count = items == NULL ? 0 : count;
    if (values->count > 0) {
        values->items.any = calloc(values->count, item);
        if (values->items.any == NULL) {
            free(values);
            return NULL;
        }
        memcpy(values->items.any, items, values->count * item);
    }
    mock_enter();
    void *handle = mock_handle_new(kind, values);
    mock_leave();
    if (handle == NULL) {
        free(values->items.any);
        free(values);
    }
    return handle;
}

aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size)
{
    return create(MOCK_INT_ARRAY, value, size, sizeof *value);
}

aclFloatArray *aclCreateFloatArray(const float *value, uint64_t size)
{
    return create(MOCK_FLOAT_ARRAY, value, size, sizeof *value);
}

aclBoolArray *aclCreateBoolArray(const bool *value, uint64_t size)
{
    return create(MOCK_BOOL_ARRAY, value, size, sizeof *value);
}

/* A list of invalid handles could not be destroyed, so none is created. */
static void *create_list(enum mock_kind kind, enum mock_kind element, const void *const *handles,
                         uint64_t count)
{
    bool good = true;
    mock_enter();
    for (uint64_t i = 0; handles != NULL && i < count; i++) {
        if (handles[i] != NULL && mock_handle_get(handles[i], element) == NULL) {
            mock_violate_handle(handles[i], element, false);
            good = false;
        }
    }
    mock_leave();
    return good ? create(kind, handles, count, sizeof *handles) : NULL;
}

aclTensorList *aclCreateTensorList(const aclTensor *const *value, uint64_t size)
{
    return create_list(MOCK_TENSOR_LIST, MOCK_TENSOR, (const void *const *)value, size);
}

aclScalarList *aclCreateScalarList(const aclScalar *const *value, uint64_t size)
{
    return create_list(MOCK_SCALAR_LIST, MOCK_SCALAR, (const void *const *)value, size);
}

static uint32_t scalar_bytes(aclDataType data_type)
{
    switch (data_type) {
    case ACL_BOOL:
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_DOUBLE:
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_COMPLEX64:
    case ACL_COMPLEX128:
        return (uint32_t)mock_data_type_size(data_type);
    default:
        return 0;
    }
}

aclScalar *aclCreateScalar(void *value, aclDataType dataType)
{
    const uint32_t bytes = scalar_bytes(dataType);
    if (bytes == 0) {
        mock_fail(ACLNN_ERR_PARAM_INVALID, "aclCreateScalar: a scalar cannot have this data type");
        return NULL;
    }
    struct scalar *scalar = calloc(1, sizeof *scalar);
    if (scalar == NULL) {
        return NULL;
    }
    scalar->data_type = dataType;
    scalar->bytes = bytes;
    memcpy(scalar->value, value, bytes);
    mock_enter();
    void *handle = mock_handle_new(MOCK_SCALAR, scalar);
    mock_leave();
    if (handle == NULL) {
        free(scalar);
    }
    return handle;
}

/* ---- measuring ---------------------------------------------------------------------------- */

static aclnnStatus count(const void *handle, enum mock_kind kind, uint64_t *size)
{
    const struct values *values = mock_handle_get(handle, kind);
    if (values == NULL) {
        mock_violate_handle(handle, kind, false);
        return mock_fail(ACLNN_ERR_PARAM_INVALID, "%p is no live %s", handle,
                         mock_kind_name(kind));
    }
    *size = values->count;
    return ACLNN_SUCCESS;
}

aclnnStatus aclGetIntArraySize(const aclIntArray *array, uint64_t *size)
{
    return count(array, MOCK_INT_ARRAY, size);
}

aclnnStatus aclGetFloatArraySize(const aclFloatArray *array, uint64_t *size)
{
    return count(array, MOCK_FLOAT_ARRAY, size);
}

aclnnStatus aclGetBoolArraySize(const aclBoolArray *array, uint64_t *size)
{
    return count(array, MOCK_BOOL_ARRAY, size);
}

aclnnStatus aclGetTensorListSize(const aclTensorList *tensorList, uint64_t *size)
{
    return count(tensorList, MOCK_TENSOR_LIST, size);
}

aclnnStatus aclGetScalarListSize(const aclScalarList *scalarList, uint64_t *size)
{
    return count(scalarList, MOCK_SCALAR_LIST, size);
}
