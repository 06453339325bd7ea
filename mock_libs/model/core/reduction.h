/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions of numbers during copies. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "acl/acl.h"

/* Bytes of a number that can be reduced, or 0. */
uint64_t mock_reduce_size(aclDataType type);
/* Sum, maximum or minimum of what is there and what comes, into what is there. Sums of whole numbers
 * wrap around; a maximum or minimum with a NaN is NaN. */
void mock_reduce(aclrtReduceKind kind, aclDataType type, void *destination, const void *source,
                 uint64_t bytes);
