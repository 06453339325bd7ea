/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors for channels, and lists of them.
 * Source: CANN: runtime acl_tdt_channel/tensor_data_transfer.cpp. */
#include "data_item.h"

#include <stdlib.h>
#include <string.h>

#include "address_query.h"
#include "error_message.h"

enum { MOST_DIMS = 128 };

/* ---- tensors --------------------------------------------------------------------------------- */

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
    acltdtDataItem *item = mock_data_item_new(tdtType, dims, dimNum, dataType, 0);
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
    mock_dataset_free(dataset);
    return ACL_SUCCESS;
}

static bool on_device(const acltdtDataItem *item)
{
    return mock_alias(item->data, 0) != item->data;
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
    return mock_dataset_add(dataset, dataItem);
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
