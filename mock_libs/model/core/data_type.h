/* SPDX-License-Identifier: Apache-2.0 */
/* The sizes of data types. */
#pragma once

#include <stddef.h>

#include "acl/acl.h"

/* aclDataTypeSize, for the mock libraries themselves: no call of the program. */
size_t mock_data_type_size(aclDataType data_type);
/* Bits of an element in memory, where several may share a byte. */
unsigned mock_data_type_bits(aclDataType data_type);
