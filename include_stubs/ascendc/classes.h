/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Element-wise functions of newer releases: Clamp, Truncate, IsFinite, IsInf and IsNan.
 */
#pragma once

#include "ascendc/conversion.h"

namespace AscendC {

namespace emulation {

template <typename T>
Operand<T> InOrder(const Call &call, const char *name, const LocalTensor<T> &x)
{
    Operand<T> operand(call, name, x);
    operand.InVectorMemory().Aligned();
    return operand;
}

/* A limit: a scalar, or a tensor with one for each element. */
template <typename T> T Limit(const Call &, const char *, T limit, uint64_t) { return limit; }
template <typename T>
T Limit(const Call &call, const char *name, const LocalTensor<T> &limits, uint64_t at)
{
    return InOrder(call, name, limits).Load(at);
}
template <typename T, typename U>
constexpr bool IsLimit = std::is_same_v<U, LocalTensor<T>> || std::is_convertible_v<U, T>;

/* dst[i] = f(i, src[i]) */
template <typename F, typename D, typename S>
void EachOf(const Call &call, const LocalTensor<D> &dst, const LocalTensor<S> &src, uint32_t count,
            F f)
{
    const Operand<D> to = InOrder(call, "dst", dst);
    const Operand<S> from = InOrder(call, "src", src);
    for (uint64_t i = 0; i < count; i++) {
        to.Store(i, f(i, from.Load(i)));
    }
}

}  // namespace emulation

/* Both limits; each is a scalar or a tensor. */
template <auto... config, typename T, typename U, typename S>
void Clamp(const LocalTensor<T> &dst, const LocalTensor<T> &src, const U &min, const S &max,
           const uint32_t count, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Clamp", site);
    emulation::RequireType<T, half, bfloat16_t, float, int8_t, uint8_t, int16_t, uint16_t, int32_t,
                           uint32_t, int64_t, uint64_t>(call);
    static_assert(emulation::IsLimit<T, U> && emulation::IsLimit<T, S>,
                  "a limit is a scalar or a tensor of the elements' type");
    emulation::EachOf(call, dst, src, count, [&](uint64_t i, T x) {
        const T low = emulation::Limit<T>(call, "min", min, i);
        const T high = emulation::Limit<T>(call, "max", max, i);
        return high < (x < low ? low : x) ? high : x < low ? low : x;
    });
}

/* Integers of the elements' type. */
template <typename T, RoundMode roundMode>
void Truncate(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t count,
              emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Truncate", site);
    emulation::RequireType<T, half, bfloat16_t, float>(call);
    emulation::EachOf(call, dst, src, count, [](uint64_t, T x) {
        return static_cast<T>(emulation::RoundInteger(static_cast<float>(x), roundMode));
    });
}

/* A number of the scalar unit in another type. */
template <typename T, typename U, RoundMode roundMode> U ScalarCast(T valueIn)
{
    return emulation::Converted<U>(valueIn, roundMode);
}

/* 1 where the answer is yes, 0 elsewhere. */
#define ASCENDC_CLASS(Name, test)                                                                  \
    template <auto... config, typename T, typename U>                                              \
    void Name(const LocalTensor<U> &dst, const LocalTensor<T> &src, const uint32_t count,          \
              emulation::Site site = emulation::Site::Here())                                      \
    {                                                                                              \
        const emulation::Call call(#Name, site);                                                   \
        emulation::RequireType<T, half, bfloat16_t, float>(call);                                  \
        emulation::EachOf(call, dst, src, count, [](uint64_t, T x) {                               \
            return static_cast<U>(std::test(static_cast<float>(x)) ? 1.0F : 0.0F);                 \
        });                                                                                        \
    }                                                                                              \
    template <auto... config, typename T, typename U>                                              \
    void Name(const LocalTensor<U> &dst, const LocalTensor<T> &src,                                \
              const LocalTensor<uint8_t> &sharedTmpBuffer, const uint32_t count,                   \
              emulation::Site site = emulation::Site::Here())                                      \
    {                                                                                              \
        emulation::Within(emulation::Call(#Name, site), sharedTmpBuffer, count);                   \
        Name(dst, src, count, site);                                                               \
    }
ASCENDC_CLASS(IsFinite, isfinite)
ASCENDC_CLASS(IsInf, isinf)
ASCENDC_CLASS(IsNan, isnan)
#undef ASCENDC_CLASS

}  // namespace AscendC
