/* SPDX-License-Identifier: Apache-2.0 */
/* The sizes of data types. */
#include "data_type.h"

size_t mock_data_type_size(aclDataType data_type)
{
    switch (data_type) {
    case ACL_STRING:
    case ACL_DT_UNDEFINED:
        return 0;
    case ACL_BOOL:
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_INT4:
    case ACL_UINT1:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0:
        return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
        return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32:
        return 4;
    case ACL_COMPLEX128:
        return 16;
    default:
        return 8; /* CANN answers 8 for everything else, unknown numbers included */
    }
}

unsigned mock_data_type_bits(aclDataType data_type)
{
    switch ((int)data_type) {
    case ACL_UINT1:
        return 1;
    case ACL_INT4:
    case ACL_FLOAT4_E2M1:
    case ACL_FLOAT4_E1M2:
        return 4;
    default:
        return (unsigned)(8 * mock_data_type_size(data_type));
    }
}
