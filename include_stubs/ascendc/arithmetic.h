/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic of the vector unit, element by element. Every call has three forms: the first `count`
 * elements; repeats with a number of elements as mask; repeats with the mask's bits in two words.
 * Halves are computed in float and rounded once.
 */
#pragma once

#include <cmath>

#include "ascendc/elementwise.h"

namespace AscendC {
namespace emulation {

/* Integers wrap around, as they do in the vector unit. */
template <typename T, typename F> T Wrapped(F f, T a, T b)
{
    if constexpr (std::is_integral_v<T>) {
        return static_cast<T>(f(static_cast<uint64_t>(a), static_cast<uint64_t>(b)));
    } else {
        return static_cast<T>(f(static_cast<float>(a), static_cast<float>(b)));
    }
}

struct AddOf {
    template <typename T> T operator()(T a, T b) const
    {
        return Wrapped<T>([](auto x, auto y) { return x + y; }, a, b);
    }
};
struct SubOf {
    template <typename T> T operator()(T a, T b) const
    {
        return Wrapped<T>([](auto x, auto y) { return x - y; }, a, b);
    }
};
struct MulOf {
    template <typename T> T operator()(T a, T b) const
    {
        return Wrapped<T>([](auto x, auto y) { return x * y; }, a, b);
    }
};
struct DivOf {
    template <typename T> T operator()(T a, T b) const
    {
        return static_cast<T>(static_cast<float>(a) / static_cast<float>(b));
    }
};
struct MaxOf {
    template <typename T> T operator()(T a, T b) const { return a < b ? b : a; }
};
struct MinOf {
    template <typename T> T operator()(T a, T b) const { return b < a ? b : a; }
};
struct SqrtOf {
    float operator()(float x) const { return std::sqrt(x); }
};
struct RsqrtOf {
    float operator()(float x) const { return 1.0F / std::sqrt(x); }
};
struct LnOf {
    float operator()(float x) const { return std::log(x); }
};
struct ExpOf {
    float operator()(float x) const { return std::exp(x); }
};
struct AbsOf {
    float operator()(float x) const { return std::fabs(x); }
};
struct ReciprocalOf {
    float operator()(float x) const { return 1.0F / x; }
};
struct ReluOf {
    float operator()(float x) const { return x > 0.0F ? x : 0.0F; }
};

template <typename F, typename T>
void Binary(const Call &call, const Walk &walk, const LocalTensor<T> &dst,
            const LocalTensor<T> &src0, const LocalTensor<T> &src1, const BinaryRepeatParams &p)
{
    Apply(walk, F(), Walker<T>(call, "dst", dst, p.dstBlkStride, p.dstRepStride),
          Walker<T>(call, "src0", src0, p.src0BlkStride, p.src0RepStride),
          Walker<T>(call, "src1", src1, p.src1BlkStride, p.src1RepStride));
}

template <typename F, typename T>
void WithScalar(const Call &call, const Walk &walk, const LocalTensor<T> &dst,
                const LocalTensor<T> &src, T scalar, const UnaryRepeatParams &p)
{
    Apply(walk, [scalar](T value) { return F()(value, scalar); },
          Walker<T>(call, "dst", dst, p.dstBlkStride, p.dstRepStride),
          Walker<T>(call, "src", src, p.srcBlkStride, p.srcRepStride));
}

template <typename F, typename T>
void Unary(const Call &call, const Walk &walk, const LocalTensor<T> &dst,
           const LocalTensor<T> &src, const UnaryRepeatParams &p)
{
    RequireType<T, half, float>(call);
    Apply(walk, [](T value) { return static_cast<T>(F()(static_cast<float>(value))); },
          Walker<T>(call, "dst", dst, p.dstBlkStride, p.dstRepStride),
          Walker<T>(call, "src", src, p.srcBlkStride, p.srcRepStride));
}

/* Keeps a scalar out of template argument deduction: the tensors determine the type. */
template <typename T> struct Same {
    using Type = T;
};

}  // namespace emulation

#define ASCENDC_BINARY(Name, ...)                                                                 \
    template <typename T>                                                                         \
    void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,  \
              int32_t count, emulation::Site site = emulation::Site::Here())                      \
    {                                                                                             \
        const emulation::Call call(#Name, site);                                                  \
        emulation::RequireType<T, __VA_ARGS__>(call);                                             \
        emulation::Binary<emulation::Name##Of>(call, emulation::Count(call, count), dst, src0,    \
                                               src1, {});                                         \
    }                                                                                             \
    template <typename T, typename Mask>                                                          \
    void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,  \
              Mask mask, uint8_t repeatTimes, const BinaryRepeatParams &repeatParams,             \
              emulation::Site site = emulation::Site::Here())                                     \
    {                                                                                             \
        const emulation::Call call(#Name, site);                                                  \
        emulation::RequireType<T, __VA_ARGS__>(call);                                             \
        emulation::Binary<emulation::Name##Of>(                                                   \
            call, emulation::Masked(call, mask, repeatTimes, sizeof(T)), dst, src0, src1,         \
            repeatParams);                                                                        \
    }

#define ASCENDC_SCALAR(Name, Of, ...)                                                             \
    template <typename T>                                                                         \
    void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src,                               \
              typename emulation::Same<T>::Type scalarValue, int32_t count,                       \
              emulation::Site site = emulation::Site::Here())                                     \
    {                                                                                             \
        const emulation::Call call(#Name, site);                                                  \
        emulation::RequireType<T, __VA_ARGS__>(call);                                             \
        emulation::WithScalar<emulation::Of>(call, emulation::Count(call, count), dst, src,       \
                                             scalarValue, {});                                    \
    }                                                                                             \
    template <typename T, typename Mask>                                                          \
    void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src,                               \
              typename emulation::Same<T>::Type scalarValue, Mask mask, uint8_t repeatTimes,      \
              const UnaryRepeatParams &repeatParams,                                              \
              emulation::Site site = emulation::Site::Here())                                     \
    {                                                                                             \
        const emulation::Call call(#Name, site);                                                  \
        emulation::RequireType<T, __VA_ARGS__>(call);                                             \
        emulation::WithScalar<emulation::Of>(                                                     \
            call, emulation::Masked(call, mask, repeatTimes, sizeof(T)), dst, src, scalarValue,   \
            repeatParams);                                                                        \
    }

#define ASCENDC_UNARY(Name)                                                                       \
    template <typename T>                                                                         \
    void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t count,                \
              emulation::Site site = emulation::Site::Here())                                     \
    {                                                                                             \
        const emulation::Call call(#Name, site);                                                  \
        emulation::Unary<emulation::Name##Of>(call, emulation::Count(call, count), dst, src, {}); \
    }                                                                                             \
    template <typename T, typename Mask>                                                          \
    void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, Mask mask,                    \
              uint8_t repeatTimes, const UnaryRepeatParams &repeatParams,                         \
              emulation::Site site = emulation::Site::Here())                                     \
    {                                                                                             \
        const emulation::Call call(#Name, site);                                                  \
        emulation::Unary<emulation::Name##Of>(                                                    \
            call, emulation::Masked(call, mask, repeatTimes, sizeof(T)), dst, src, repeatParams); \
    }

ASCENDC_BINARY(Add, half, float, int16_t, int32_t)
ASCENDC_BINARY(Sub, half, float, int16_t, int32_t)
ASCENDC_BINARY(Mul, half, float, int16_t, int32_t)
ASCENDC_BINARY(Div, half, float)
ASCENDC_BINARY(Max, half, float, int16_t, int32_t)
ASCENDC_BINARY(Min, half, float, int16_t, int32_t)

ASCENDC_SCALAR(Adds, AddOf, half, float, int16_t, int32_t)
ASCENDC_SCALAR(Muls, MulOf, half, float, int16_t, int32_t)
ASCENDC_SCALAR(Maxs, MaxOf, half, float, int16_t, int32_t)
ASCENDC_SCALAR(Mins, MinOf, half, float, int16_t, int32_t)

ASCENDC_UNARY(Sqrt)
ASCENDC_UNARY(Rsqrt)
ASCENDC_UNARY(Ln)
ASCENDC_UNARY(Exp)
ASCENDC_UNARY(Abs)
ASCENDC_UNARY(Reciprocal)
ASCENDC_UNARY(Relu)

#undef ASCENDC_BINARY
#undef ASCENDC_SCALAR
#undef ASCENDC_UNARY

}  // namespace AscendC
