/* SPDX-License-Identifier: Apache-2.0 */
/* A libnnopbase whose objects are what was given, nothing more. */
#include "telling.h"

static long living;

static void *make(size_t size)
{
    living++;
    return calloc(1, size);
}

static aclnnStatus destroy(const void *object)
{
    living--;
    free((void *)(uintptr_t)object);
    return 0;
}

long telling_living(void)
{
    return living;
}

aclTensor *aclCreateTensor(const int64_t *dims, uint64_t rank, aclDataType type,
                           const int64_t *strides, int64_t offset, aclFormat format,
                           const int64_t *storage, uint64_t storage_rank, void *data)
{
    (void)strides, (void)offset;
    aclTensor *tensor = make(sizeof *tensor);
    memcpy(tensor->dims, dims, rank * sizeof *dims);
    tensor->rank = rank;
    memcpy(tensor->storage, storage, storage_rank * sizeof *storage);
    tensor->storage_rank = storage_rank;
    tensor->data_type = type;
    tensor->format = format;
    tensor->data = data;
    return tensor;
}

aclScalar *aclCreateScalar(void *value, aclDataType type)
{
    static const int sizes[] = {4, 2, 1, 4, 1, 0, 2, 2, 4, 8, 8, 8, 1, 0, 0, 0, 8, 16};
    aclScalar *scalar = make(sizeof *scalar);
    memcpy(scalar->bytes, value, type == 27 ? 2 : (size_t)sizes[type]);
    scalar->data_type = type;
    return scalar;
}

#define LIST(LISTED, LIST)                                                                    \
    LISTED *aclCreate##LIST(const void *items, uint64_t count)                                \
    {                                                                                         \
        LISTED *list = make(sizeof *list);                                                    \
        list->count = count;                                                                  \
        memcpy(list->items, items, count * sizeof list->items[0]);                            \
        return list;                                                                          \
    }
LIST(aclTensorList, TensorList)
LIST(aclScalarList, ScalarList)
LIST(aclIntArray, IntArray)
LIST(aclFloatArray, FloatArray)
LIST(aclBoolArray, BoolArray)

#define DESTROY(KIND)                                                                         \
    aclnnStatus aclDestroy##KIND(const void *object)                                          \
    {                                                                                         \
        return destroy(object);                                                               \
    }
DESTROY(Tensor)
DESTROY(Scalar)
DESTROY(IntArray)
DESTROY(FloatArray)
DESTROY(BoolArray)

aclnnStatus aclDestroyTensorList(const aclTensorList *list)
{
    for (uint64_t i = 0; i < list->count; i++) {
        if (list->items[i] != NULL) {
            destroy(list->items[i]);
        }
    }
    return destroy(list);
}

aclnnStatus aclDestroyScalarList(const aclScalarList *list)
{
    for (uint64_t i = 0; i < list->count; i++) {
        destroy(list->items[i]);
    }
    return destroy(list);
}

aclnnStatus aclGetViewShape(const aclTensor *tensor, int64_t **dims, uint64_t *rank)
{
    *dims = malloc(sizeof tensor->dims);
    memcpy(*dims, tensor->dims, sizeof tensor->dims);
    *rank = tensor->rank;
    return 0;
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor)
{
    (void)executor;
    return 0;
}

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor)
{
    (void)executor;
    return 0;
}

aclnnStatus aclSetTensorAddr(aclOpExecutor *executor, size_t index, aclTensor *tensor, void *data)
{
    (void)executor, (void)index;
    tensor->data = data;
    return 0;
}
