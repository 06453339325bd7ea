/* SPDX-License-Identifier: Apache-2.0 */
/*
 * float16 for host programs in C++: two bytes, converted to and from float by libascendcl. An
 * integer of 16 bits without a sign stands for the bits; every other number, for its value.
 */
#pragma once

#include "acl/acl_base.h"

#ifdef __cplusplus
namespace op {

struct fp16_t {
    uint16_t val;

    fp16_t() : val(0) {}
    fp16_t(const uint16_t &bits) : val(bits) {}
    template <typename T> fp16_t(const T &value) : val(aclFloatToFloat16(static_cast<float>(value)))
    {
    }
    operator float() const { return aclFloat16ToFloat(val); }
};

#define ACL_STUBS_HALF(sign)                                                                       \
    inline fp16_t operator sign(const fp16_t &a, const fp16_t &b)                                  \
    {                                                                                              \
        return fp16_t(static_cast<float>(a) sign static_cast<float>(b));                           \
    }                                                                                              \
    inline fp16_t &operator sign##=(fp16_t &a, const fp16_t &b) { return a = a sign b; }
ACL_STUBS_HALF(+)
ACL_STUBS_HALF(-)
ACL_STUBS_HALF(*)
ACL_STUBS_HALF(/)
#undef ACL_STUBS_HALF

} /* namespace op */
#endif
