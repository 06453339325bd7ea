/* SPDX-License-Identifier: Apache-2.0 */
/* Datasets of offline models: lists of buffers, each with a description of its tensor or none.
 * Source: CANN: ge acl_model/model/model_om2.cpp. */
#include <stdlib.h>

#include "acl/acl_mdl.h"
#include "error_message.h"
#include "tensor_desc.h"
#include "violation.h"

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
    struct tensor_desc *before = mock_handle_close(item->desc, MOCK_TENSOR_DESC);
    if (before != NULL) {
        mock_tensor_desc_free(before);
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
    if (tensorDesc == NULL) {
        set_desc(item, NULL);
        return ACL_SUCCESS;
    }
    const struct tensor_desc *desc = mock_handle_get(tensorDesc, MOCK_TENSOR_DESC);
    if (desc == NULL) {
        mock_violate_handle(tensorDesc, MOCK_TENSOR_DESC, false);
        return mock_fail(ACL_ERROR_INVALID_PARAM, "%p is no live aclTensorDesc",
                         (void *)tensorDesc);
    }
    struct tensor_desc *copy = mock_tensor_desc_copy(desc);
    void *handle = copy == NULL ? NULL : mock_handle_new(MOCK_TENSOR_DESC, copy);
    if (handle == NULL) {
        if (copy != NULL) {
            mock_tensor_desc_free(copy);
        }
        return mock_fail(ACL_ERROR_BAD_ALLOC, "no host memory for a description");
    }
    set_desc(item, handle);
    return ACL_SUCCESS;
}
