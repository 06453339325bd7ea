/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions of numbers during copies. */
#include "reduction.h"

#include <math.h>
#include <string.h>

#include "data_type.h"
#include "float16.h"

uint64_t mock_reduce_size(aclDataType type)
{
    switch (type) {
    case ACL_INT8:
    case ACL_INT16:
    case ACL_INT32:
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_FLOAT:
        return mock_data_type_size(type);
    default:
        return 0;
    }
}

static float of_floats(aclrtReduceKind kind, float one, float other)
{
    if (kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM || isnan(one) || isnan(other)) {
        return one + other;
    }
    return (kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX) == (one > other) ? one : other;
}

static int64_t of_whole(aclrtReduceKind kind, int64_t one, int64_t other)
{
    if (kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM) {
        return one + other;
    }
    return (kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX) == (one > other) ? one : other;
}

/* For the numbers of one type: read both, reduce, write. */
#define EACH(type_, of, read, write)                                        \
    for (uint64_t at = 0; at + sizeof(type_) <= bytes; at += sizeof(type_)) { \
        type_ one, other;                                                   \
        memcpy(&one, (uint8_t *)destination + at, sizeof one);              \
        memcpy(&other, (const uint8_t *)source + at, sizeof other);         \
        one = (type_)write(of(kind, read(one), read(other)));               \
        memcpy((uint8_t *)destination + at, &one, sizeof one);              \
    }

void mock_reduce(aclrtReduceKind kind, aclDataType type, void *destination, const void *source,
                 uint64_t bytes)
{
    switch (type) {
    case ACL_INT8:
        EACH(int8_t, of_whole, , )
        break;
    case ACL_INT16:
        EACH(int16_t, of_whole, , )
        break;
    case ACL_INT32:
        EACH(int32_t, of_whole, , )
        break;
    case ACL_FLOAT16:
        EACH(uint16_t, of_floats, mock_float16_to_float, mock_float16_from_float)
        break;
    case ACL_BF16:
        EACH(uint16_t, of_floats, mock_bfloat16_to_float, mock_bfloat16_from_float)
        break;
    default:
        EACH(float, of_floats, , )
        break;
    }
}
