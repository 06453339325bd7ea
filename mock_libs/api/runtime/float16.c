/* SPDX-License-Identifier: Apache-2.0 */
/* Half-precision numbers for the caller. */
#include "float16.h"

#include "acl/acl.h"

float aclFloat16ToFloat(aclFloat16 value)
{
    return mock_float16_to_float(value);
}

aclFloat16 aclFloatToFloat16(float value)
{
    return mock_float16_from_float(value);
}
