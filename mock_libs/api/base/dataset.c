/* SPDX-License-Identifier: Apache-2.0 */
/* Datasets of offline models: lists of buffers, each with a description of its tensor or none.
 * Source: CANN: ge acl_model/model/model_om2.cpp. */
#include <stdlib.h>

#include "acl/acl_mdl.h"
#include "error_message.h"
#include "single_operator.h"

struct item {
    aclDataBuffer *buffer;
    aclTensorDesc *desc; /* a copy, or NULL */
};

struct aclmdlDataset {
    struct item *items;
    size_t count;
};

aclmdlDataset *aclmdlCreateDataset(void)
{
    return calloc(1, sizeof(aclmdlDataset));
}

static void set_desc(struct item *item, aclTensorDesc *desc)
{
    if (item->desc != NULL) {
        aclDestroyTensorDesc(item->desc);
    }
    item->desc = desc;
}

aclError aclmdlDestroyDataset(const aclmdlDataset *dataset)
{
    for (size_t i = 0; i < dataset->count; i++) {
        set_desc(&dataset->items[i], NULL);
    }
    free(dataset->items);
    free((void *)(uintptr_t)dataset);
    return ACL_SUCCESS;
}

aclError aclmdlAddDatasetBuffer(aclmdlDataset *dataset, aclDataBuffer *dataBuffer)
{
    struct item *grown = realloc(dataset->items, (dataset->count + 1) * sizeof *grown);
    if (grown == NULL) {
        return mock_fail(ACL_ERROR_BAD_ALLOC, "no host memory for a list of buffers");
    }
    dataset->items = grown;
    dataset->items[dataset->count++] = (struct item){.buffer = dataBuffer};
    return ACL_SUCCESS;
}

size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset *dataset)
{
    return dataset == NULL ? 0 : dataset->count;
}

static struct item *find(const aclmdlDataset *dataset, size_t index)
{
    return dataset == NULL || index >= dataset->count ? NULL : &dataset->items[index];
}

aclDataBuffer *aclmdlGetDatasetBuffer(const aclmdlDataset *dataset, size_t index)
{
    const struct item *item = find(dataset, index);
    return item == NULL ? NULL : item->buffer;
}

aclTensorDesc *aclmdlGetDatasetTensorDesc(const aclmdlDataset *dataset, size_t index)
{
    const struct item *item = find(dataset, index);
    return item == NULL ? NULL : item->desc;
}

/* NULL removes a description. */
aclError aclmdlSetDatasetTensorDesc(aclmdlDataset *dataset, aclTensorDesc *tensorDesc, size_t index)
{
    struct item *item = find(dataset, index);
    if (item == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "index is %zu; the dataset has %zu buffers",
                         index, aclmdlGetDatasetNumBuffers(dataset));
    }
    aclTensorDesc *copy = tensorDesc == NULL ? NULL : mock_tensor_desc_copy(tensorDesc);
    if (tensorDesc != NULL && copy == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "%p is no live aclTensorDesc", (void *)tensorDesc);
    }
    set_desc(item, copy);
    return ACL_SUCCESS;
}
