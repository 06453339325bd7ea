/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors for channels, and lists of them. */
#pragma once

#include <stdbool.h>

#include "acl/acl_tdt.h"

struct acltdtDataItem {
    acltdtTensorType type;
    aclDataType data_type;
    void *data; /* the program's, or behind `dims` in a copy */
    size_t size, dim_count;
    int64_t dims[];
};

struct acltdtDataset {
    acltdtDataItem **items;
    size_t count;
    bool received; /* its items are its own */
};

/* A tensor with `extra` bytes behind its dimensions and without data; NULL: no host memory. */
acltdtDataItem *mock_data_item_new(acltdtTensorType type, const int64_t *dims, size_t dim_count,
                                   aclDataType data_type, size_t extra);
/* Put a tensor last. */
aclError mock_dataset_add(acltdtDataset *dataset, acltdtDataItem *item);
void mock_dataset_free(acltdtDataset *dataset);
/* Copy the tensors of a list, with their data. NULL, and *status holds the code: there is no host
 * memory, or the data are not live. */
acltdtDataset *mock_dataset_copy(const acltdtDataset *from, aclError *status);
