/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of tensors that channels pass on. */
#pragma once

#include "acl/acl_tdt.h"
#include "frame.h"

/* Copy the tensors of a list, with their data; NULL: no host memory, or data that is not live. */
acltdtDataset *mock_dataset_copy(const acltdtDataset *from, aclError *status);
/* Move the tensors of a copy into an empty list, and free the copy. */
void mock_dataset_receive(acltdtDataset *to, acltdtDataset *copy);
