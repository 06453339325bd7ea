/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors for channels, and lists of them.
 * Source: CANN: runtime acl_tdt_channel/tensor_data_transfer.cpp. */
#include "data_item.h"

#include <stdlib.h>
#include <string.h>

#include "address_query.h"
#include "error_message.h"

enum { MOST_DIMS = 128 };

struct acltdtDataItem {
    acltdtTensorType type;
    aclDataType data_type;
    void *data; /* the program's, or behind `dims` in an item that was received */
    size_t size, dim_count;
    int64_t dims[];
};

struct acltdtDataset {
    acltdtDataItem **items;
    size_t count;
    bool received; /* its items are its own */
};

/* ---- tensors --------------------------------------------------------------------------------- */

static acltdtDataItem *new_item(acltdtTensorType type, const int64_t *dims, size_t dim_count,
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

acltdtDataItem *acltdtCreateDataItem(acltdtTensorType tdtType, const int64_t *dims, size_t dimNum,
                                     aclDataType dataType, void *data, size_t size)
{
    const bool tensor = tdtType == ACL_TENSOR_DATA_TENSOR;
    if ((dims == NULL) != (dimNum == 0) || dimNum > MOST_DIMS || (dims != NULL && !tensor)) {
        mock_fail(ACL_ERROR_INVALID_PARAM,
                  "dims is %p and dimNum %zu; a tensor has up to %d dimensions, other data none",
                  (const void *)dims, dimNum, MOST_DIMS);
        return NULL;
    }
    acltdtDataItem *item = new_item(tdtType, dims, dimNum, dataType, 0);
    if (item != NULL) {
        item->data = data;
        item->size = size;
    }
    return item;
}

aclError acltdtDestroyDataItem(acltdtDataItem *dataItem)
{
    free(dataItem);
    return ACL_SUCCESS;
}

acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem *dataItem)
{
    return dataItem == NULL ? ACL_TENSOR_DATA_UNDEFINED : dataItem->type;
}

aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem *dataItem)
{
    return dataItem == NULL ? ACL_DT_UNDEFINED : dataItem->data_type;
}

void *acltdtGetDataAddrFromItem(const acltdtDataItem *dataItem)
{
    return dataItem == NULL ? NULL : dataItem->data;
}

size_t acltdtGetDataSizeFromItem(const acltdtDataItem *dataItem)
{
    return dataItem == NULL ? 0 : dataItem->size;
}

size_t acltdtGetDimNumFromItem(const acltdtDataItem *dataItem)
{
    return dataItem == NULL ? 0 : dataItem->dim_count;
}

aclError acltdtGetDimsFromItem(const acltdtDataItem *dataItem, int64_t *dims, size_t dimNum)
{
    if ((dims == NULL) != (dimNum == 0) || dimNum < dataItem->dim_count) {
        return mock_fail(ACL_ERROR_INVALID_PARAM,
                         "dims is %p and dimNum %zu; the tensor has %zu dimensions", (void *)dims,
                         dimNum, dataItem->dim_count);
    }
    if (dataItem->dim_count > 0) {
        memcpy(dims, dataItem->dims, dataItem->dim_count * sizeof *dims);
    }
    return ACL_SUCCESS;
}

/* Only data that a device sends comes in slices. */
aclError acltdtGetSliceInfoFromItem(const acltdtDataItem *dataItem, size_t *sliceNum,
                                    size_t *sliceId)
{
    (void)dataItem;
    *sliceNum = *sliceId = 0;
    return ACL_SUCCESS;
}

/* ---- lists of tensors ------------------------------------------------------------------------ */

acltdtDataset *acltdtCreateDataset(void)
{
    return calloc(1, sizeof(acltdtDataset));
}

aclError acltdtDestroyDataset(acltdtDataset *dataset)
{
    for (size_t i = 0; dataset->received && i < dataset->count; i++) {
        free(dataset->items[i]);
    }
    free(dataset->items);
    free(dataset);
    return ACL_SUCCESS;
}

static bool on_device(const acltdtDataItem *item)
{
    return mock_alias(item->data) != item->data;
}

static aclError append(acltdtDataset *dataset, acltdtDataItem *item)
{
    void *grown = realloc(dataset->items, (dataset->count + 1) * sizeof item);
    if (grown == NULL) {
        return mock_fail(ACL_ERROR_BAD_ALLOC, "no host memory for a list of tensors");
    }
    dataset->items = grown;
    dataset->items[dataset->count++] = item;
    return ACL_SUCCESS;
}

aclError acltdtAddDataItem(acltdtDataset *dataset, acltdtDataItem *dataItem)
{
    if (dataset->received) {
        return mock_fail(ACL_ERROR_FEATURE_UNSUPPORTED, "nothing is added to what was received");
    }
    if (dataset->count > 0 && on_device(dataset->items[0]) != on_device(dataItem)) {
        return mock_fail(ACL_ERROR_INVALID_PARAM,
                         "a list has tensors of the host or of a device, not of both");
    }
    return append(dataset, dataItem);
}

acltdtDataItem *acltdtGetDataItem(const acltdtDataset *dataset, size_t index)
{
    return dataset == NULL || index >= dataset->count ? NULL : dataset->items[index];
}

size_t acltdtGetDatasetSize(const acltdtDataset *dataset)
{
    return dataset == NULL ? 0 : dataset->count;
}

/* Only what a device sends has a name. */
const char *acltdtGetDatasetName(const acltdtDataset *dataset)
{
    return dataset == NULL ? NULL : "";
}

/* ---- copies of them -------------------------------------------------------------------------- */

static acltdtDataItem *copy_of(const acltdtDataItem *item)
{
    const void *data = item->size == 0 ? NULL : mock_live_alias(item->data, item->size);
    if (item->size > 0 && data == NULL) {
        return NULL;
    }
    acltdtDataItem *copy = new_item(item->type, item->dims, item->dim_count, item->data_type,
                                    item->size);
    if (copy != NULL && item->size > 0) {
        copy->size = item->size;
        copy->data = copy->dims + item->dim_count;
        memcpy(copy->data, data, item->size);
    }
    return copy;
}

acltdtDataset *mock_dataset_copy(const acltdtDataset *from, aclError *status)
{
    acltdtDataset *copy = acltdtCreateDataset();
    *status = copy == NULL ? mock_fail(ACL_ERROR_BAD_ALLOC, "no host memory for tensors")
                           : ACL_SUCCESS;
    for (size_t i = 0; *status == ACL_SUCCESS && i < from->count; i++) {
        acltdtDataItem *item = copy_of(from->items[i]);
        *status = item != NULL ? append(copy, item)
                               : mock_fail(ACL_ERROR_INVALID_PARAM,
                                           "tensor %zu: no live memory at %p, or none to copy its "
                                           "%zu bytes to",
                                           i, from->items[i]->data, from->items[i]->size);
    }
    if (copy != NULL) {
        copy->received = true;
        if (*status != ACL_SUCCESS) {
            acltdtDestroyDataset(copy);
            copy = NULL;
        }
    }
    return copy;
}

void mock_dataset_receive(acltdtDataset *to, acltdtDataset *copy)
{
    free(to->items);
    *to = *copy;
    free(copy);
}
