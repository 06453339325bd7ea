/* SPDX-License-Identifier: Apache-2.0 */
/*
 * float4 for host programs in C++: a sign, two bits of exponent and one of mantissa, in the lower
 * half of a byte (in tensors two values share one). An integer of 8 bits without a sign stands for
 * the bits; every other number, for its value: the nearest one, of two the even one, 6 beyond it.
 *
 * The format is that of the OCP Microscaling specification, which has no NaN; it becomes zero here.
 * Programs include this path. The name that CANN has for the struct is not known here: this one
 * follows the file, as in fp16_t.h. CANN's arithmetic and its result for NaN are not known either.
 */
#pragma once

#include "acl/acl_base.h"

#ifdef __cplusplus
#include <cmath>

namespace op {

struct float4_e2m1 {
    uint8_t val;

    float4_e2m1() : val(0) {}
    float4_e2m1(const uint8_t &bits) : val(bits & 15) {}
    template <typename T> float4_e2m1(const T &value) : val(rounded(static_cast<double>(value))) {}
    operator float() const
    {
        static const float magnitudes[] = {0, .5F, 1, 1.5F, 2, 3, 4, 6};
        return (val & 8) != 0 ? -magnitudes[val & 7] : magnitudes[val & 7];
    }

private:
    static uint8_t rounded(double value)
    {
        const double x = std::fabs(value);
        const int magnitude = (x > .25) + (x >= .75) + (x > 1.25) + (x >= 1.75) + (x > 2.5) +
                              (x >= 3.5) + (x > 5);
        return static_cast<uint8_t>(std::signbit(value) ? magnitude + 8 : magnitude);
    }
};

} /* namespace op */
#endif
