/* SPDX-License-Identifier: Apache-2.0 */
/* The sizes of data types. */
#ifndef MOCK_DATA_TYPE_H
#define MOCK_DATA_TYPE_H

#include <stddef.h>

#include "acl/acl.h"

/* aclDataTypeSize, for the mock libraries themselves: no call of the program. */
size_t mock_data_type_size(aclDataType data_type);

#endif
