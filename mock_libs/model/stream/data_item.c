/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors for channels, and lists of them. */
#include "data_item.h"

#include <stdlib.h>
#include <string.h>

#include "address_query.h"
#include "error_message.h"

acltdtDataItem *mock_data_item_new(acltdtTensorType type, const int64_t *dims, size_t dim_count,
                                   aclDataType data_type, size_t extra)
{
    const size_t bytes = dim_count * sizeof *dims;
    acltdtDataItem *item = calloc(1, sizeof *item + bytes + extra);
    if (item != NULL) {
        item->type = type;
        item->data_type = data_type;
        item->dim_count = dim_count;
        if (bytes > 0) {
            memcpy(item->dims, dims, bytes);
        }
    }
    return item;
}

aclError mock_dataset_add(acltdtDataset *dataset, acltdtDataItem *item)
{
    void *grown = realloc(dataset->items, (dataset->count + 1) * sizeof item);
    if (grown == NULL) {
        return mock_fail(ACL_ERROR_BAD_ALLOC, "no host memory for a list of tensors");
    }
    dataset->items = grown;
    dataset->items[dataset->count++] = item;
    return ACL_SUCCESS;
}

void mock_dataset_free(acltdtDataset *dataset)
{
    for (size_t i = 0; dataset->received && i < dataset->count; i++) {
        free(dataset->items[i]);
    }
    free(dataset->items);
    free(dataset);
}

static acltdtDataItem *copy_of(const acltdtDataItem *item)
{
    const void *data = item->size == 0 ? NULL : mock_live_alias(item->data, item->size);
    if (item->size > 0 && data == NULL) {
        return NULL;
    }
    acltdtDataItem *copy = mock_data_item_new(item->type, item->dims, item->dim_count,
                                              item->data_type, item->size);
    if (copy != NULL && item->size > 0) {
        copy->size = item->size;
        copy->data = copy->dims + item->dim_count;
        memcpy(copy->data, data, item->size);
    }
    return copy;
}

acltdtDataset *mock_dataset_copy(const acltdtDataset *from, aclError *status)
{
    acltdtDataset *copy = calloc(1, sizeof *copy);
    *status = copy == NULL ? mock_fail(ACL_ERROR_BAD_ALLOC, "no host memory for tensors")
                           : ACL_SUCCESS;
    for (size_t i = 0; *status == ACL_SUCCESS && i < from->count; i++) {
        acltdtDataItem *item = copy_of(from->items[i]);
        *status = item != NULL ? mock_dataset_add(copy, item)
                               : mock_fail(ACL_ERROR_INVALID_PARAM,
                                           "tensor %zu: no live memory at %p, or none to copy its "
                                           "%zu bytes to",
                                           i, from->items[i]->data, from->items[i]->size);
    }
    if (copy != NULL) {
        copy->received = true;
        if (*status != ACL_SUCCESS) {
            mock_dataset_free(copy);
            copy = NULL;
        }
    }
    return copy;
}
