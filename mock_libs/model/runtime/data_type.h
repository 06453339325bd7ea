/* SPDX-License-Identifier: Apache-2.0 */
/* The sizes of data types. */
#pragma once

#include <stddef.h>

#include "acl/acl.h"

/* aclDataTypeSize, for the mock libraries themselves: no call of the program. */
size_t mock_data_type_size(aclDataType data_type);
