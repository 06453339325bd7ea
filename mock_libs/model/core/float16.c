/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of 16 bits. */
#include "float16.h"

#include <math.h>
#include <string.h>

float mock_float16_to_float(uint16_t value)
{
    const uint32_t sign = (uint32_t)(value & 0x8000u) << 16;
    const uint32_t exponent = (value >> 10) & 0x1Fu;
    const uint32_t fraction = value & 0x3FFu;
    uint32_t bits;
    if (exponent == 0x1F) {
        bits = sign | 0x7F800000u | fraction << 13;
    } else if (exponent != 0) {
        bits = sign | (exponent + 112) << 23 | fraction << 13;
    } else {
        const float magnitude = (float)fraction / 16777216.0f; /* subnormal: fraction · 2^-24 */
        memcpy(&bits, &magnitude, sizeof bits);
        bits |= sign;
    }
    float result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

uint16_t mock_float16_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) {
        return (uint16_t)(sign | 0x7E00u);
    }
    if (magnitude >= 0x477FF000u) { /* 65520 and above round to infinity */
        return (uint16_t)(sign | 0x7C00u);
    }
    const uint32_t exponent = magnitude >> 23;
    if (exponent < 102) { /* below half of the smallest subnormal */
        return (uint16_t)sign;
    }
    const uint32_t fraction = exponent < 113 ? (magnitude & 0x7FFFFFu) | 0x800000u
                                             : magnitude - (112u << 23);
    const uint32_t shift = exponent < 113 ? 126 - exponent : 13;
    const uint32_t kept = fraction >> shift;
    const uint32_t rest = fraction & ((1u << shift) - 1), half = 1u << (shift - 1);
    const uint32_t up = rest > half || (rest == half && (kept & 1u)) ? 1 : 0;
    return (uint16_t)(sign | (kept + up));
}

float mock_bfloat16_to_float(uint16_t value)
{
    const uint32_t bits = (uint32_t)value << 16;
    float result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

uint16_t mock_bfloat16_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? (uint16_t)(bits >> 16 | 0x40u)
                        : (uint16_t)((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}
