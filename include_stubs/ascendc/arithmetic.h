/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic of the vector unit, element by element: the functions of functions.def. Those of the
 * unit have three forms: the first `count` elements; repeats with a number of elements as mask;
 * repeats with the mask's bits in two words. Those of the library have a count or none, and
 * temporary memory or none. 16-bit floats are computed in float and rounded once.
 */
#pragma once

#include <cmath>

#include "ascendc/elementwise.h"

namespace AscendC {
namespace emulation {

/* Type in which an element is computed. Integers wrap around, as they do in the vector unit. */
template <typename T>
using Wide = std::conditional_t<std::is_integral_v<T>, int64_t, float>;

template <typename T, typename V> T NarrowTo(V value)
{
    if constexpr (std::is_integral_v<T> || std::is_same_v<T, V>) {
        return static_cast<T>(value);
    } else {
        return static_cast<T>(static_cast<double>(value));
    }
}

inline const char *SourceName(size_t number, size_t sources)
{
    static const char *const names[] = {"src0", "src1", "src2"};
    return sources == 1 ? "src" : names[number];
}

/* A repeat of a count must not read what one before it has written. */
template <typename D, typename S>
void RequireForward(const Walk &walk, const Walker<D> &dst, const Walker<S> &src)
{
    const uint64_t bytes = walk.timelines.size() * sizeof(S);
    const int64_t behind = dst.operand.Behind(src.operand);
    if (walk.repeats == 1 && bytes > RepeatBytes && behind > 0 &&
        static_cast<uint64_t>(behind) < bytes && walk.timelines.size() <= src.operand.Size()) {
        dst.operand.Fail(rule::Overlap,
                         Text("it begins %lld bytes behind %s, so repeats read what those before "
                              "them have written: they must be the same or lie apart",
                              static_cast<long long>(behind), src.operand.Name()));
    }
}

/* dst = f(sources...), with W for what they are computed in. */
template <template <typename> typename W, typename F, typename D, typename... S, size_t... n>
void Compute(const Call &call, const Walk &walk, const UnaryRepeatParams &p, F f,
             std::index_sequence<n...>, const LocalTensor<D> &dst, const LocalTensor<S> &...src)
{
    const Walker<D> to(call, "dst", dst, p.dstBlkStride, p.dstRepStride);
    const std::tuple<Walker<S>...> from{
        Walker<S>(call, SourceName(n, sizeof...(S)), src, p.srcBlkStride, p.srcRepStride)...};
    (RequireForward(walk, to, std::get<n>(from)), ...);
    Apply(walk, [f](S... values) { return NarrowTo<D>(f(static_cast<W<S>>(values)...)); }, to,
          std::get<n>(from)...);
}

template <template <typename> typename W, typename F, typename D, typename A, typename B>
void Compute(const Call &call, const Walk &walk, const BinaryRepeatParams &p, F f,
             std::index_sequence<0, 1>, const LocalTensor<D> &dst, const LocalTensor<A> &src0,
             const LocalTensor<B> &src1)
{
    const Walker<D> to(call, "dst", dst, p.dstBlkStride, p.dstRepStride);
    const Walker<A> first(call, "src0", src0, p.src0BlkStride, p.src0RepStride);
    const Walker<B> second(call, "src1", src1, p.src1BlkStride, p.src1RepStride);
    RequireForward(walk, to, first);
    RequireForward(walk, to, second);
    Apply(walk,
          [f](A a, B b) { return NarrowTo<D>(f(static_cast<W<A>>(a), static_cast<W<B>>(b))); }, to,
          first, second);
}

/* dst = f(dst, sources...). */
template <typename F, typename D, typename S>
void Accumulate(const Call &call, const Walk &walk, const UnaryRepeatParams &p, F f,
                const LocalTensor<D> &dst, const LocalTensor<S> &src)
{
    const Walker<D> to(call, "dst", dst, p.dstBlkStride, p.dstRepStride);
    Apply(walk, [f](D d, S a) { return NarrowTo<D>(f(Wide<D>(d), Wide<S>(a))); }, to, to,
          Walker<S>(call, "src", src, p.srcBlkStride, p.srcRepStride));
}

template <typename F, typename D, typename S>
void Accumulate(const Call &call, const Walk &walk, const BinaryRepeatParams &p, F f,
                const LocalTensor<D> &dst, const LocalTensor<S> &src0, const LocalTensor<S> &src1)
{
    const Walker<D> to(call, "dst", dst, p.dstBlkStride, p.dstRepStride);
    Apply(walk, [f](D d, S a, S b) { return NarrowTo<D>(f(Wide<D>(d), Wide<S>(a), Wide<S>(b))); },
          to, to, Walker<S>(call, "src0", src0, p.src0BlkStride, p.src0RepStride),
          Walker<S>(call, "src1", src1, p.src1BlkStride, p.src1RepStride));
}

/* The library computes in double: what it promises is the exact result, rounded. */
template <typename T> using Exact = double;

/* Temporary memory that the caller passed is spoiled; how much is needed is the library's own. */
inline int64_t Within(const Call &call, const LocalTensor<uint8_t> &sharedTmpBuffer, int64_t count)
{
    Operand<uint8_t> memory(call, "sharedTmpBuffer", sharedTmpBuffer);
    memory.InVectorMemory().Aligned().Consume(memory.Size());
    return count;
}

/* The derivative of lgamma; NaN at its poles. */
inline double Digamma(double x)
{
    constexpr double pi = 3.14159265358979323846;
    if (x <= 0) {
        return x == std::floor(x) ? NAN : Digamma(1 - x) - pi / std::tan(pi * x);
    }
    double sum = 0;
    for (; x < 10; x++) {
        sum -= 1 / x;
    }
    const double y = 1 / (x * x);
    return sum + std::log(x) - 0.5 / x -
           y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y * (1.0 / 240 - y / 132))));
}

template <typename F, typename T, typename... S>
void Library(const Call &call, int64_t count, F f, const LocalTensor<T> &dst,
             const LocalTensor<S> &...src)
{
    RequireType<T, half, float>(call);
    Compute<Exact>(call, Count(call, count), UnaryRepeatParams(), f,
                   std::index_sequence_for<S...>(), dst, src...);
}

/* A sum, difference and so on of two tensors, which an assignment to a third one computes. */
template <typename T> struct Pending {
    LocalTensor<T> a, b;
    void (*compute)(const LocalTensor<T> &, const LocalTensor<T> &, const LocalTensor<T> &,
                    int32_t, Site);
};

}  // namespace emulation

template <typename T>
template <typename E, typename>
LocalTensor<T> &LocalTensor<T>::operator=(const E &pending)
{
    pending.compute(*this, pending.a, pending.b, static_cast<int32_t>(size_),
                    emulation::Call::Last().site);
    return *this;
}

#define ASCENDC_LIST(...) __VA_ARGS__
#define ASCENDC_TYPES_FLOATS half, float
#define ASCENDC_TYPES_NUMBERS half, float, int16_t, int32_t
#define ASCENDC_TYPES_BITS int16_t, uint16_t
#define ASCENDC_TYPES_SHIFTED int16_t, uint16_t, int32_t, uint32_t
#define ASCENDC_TYPES_INTEGERS int16_t, int32_t

/* The forms of a function of the unit; `head` are its types, `tensors` its operands. */
#define ASCENDC_FORMS(Name, head, tensors, Types, Params, size, ...)                               \
    template <ASCENDC_LIST head, auto... flags>                                                    \
    void Name(ASCENDC_LIST tensors, int32_t count, emulation::Site site = emulation::Site::Here()) \
    {                                                                                              \
        const emulation::Call call(#Name, site);                                                   \
        emulation::RequireType<U, ASCENDC_TYPES_##Types>(call);                                    \
        const emulation::Walk walk = emulation::Count(call, count);                                \
        const Params repeatParams;                                                                 \
        __VA_ARGS__;                                                                               \
    }                                                                                              \
    template <ASCENDC_LIST head, auto... flags, typename Mask>                                     \
    void Name(ASCENDC_LIST tensors, Mask mask, int64_t repeatTimes, const Params &repeatParams,    \
              emulation::Site site = emulation::Site::Here())                                      \
    {                                                                                              \
        const emulation::Call call(#Name, site);                                                   \
        emulation::RequireType<U, ASCENDC_TYPES_##Types>(call);                                    \
        const emulation::Walk walk = emulation::MaskedBy<emulation::SetsMask<flags...>()>(         \
            call, mask, repeatTimes, size);                                                        \
        __VA_ARGS__;                                                                               \
    }

#define ASCENDC_UNARY(Name, Types, ...)                                                            \
    ASCENDC_FORMS(Name, (typename U), (const LocalTensor<U> &dst, const LocalTensor<U> &src),      \
                  Types, UnaryRepeatParams, sizeof(U),                                             \
                  emulation::Compute<emulation::Wide>(                                             \
                      call, walk, repeatParams, [](auto a) { return __VA_ARGS__; },                \
                      std::index_sequence<0>(), dst, src))

#define ASCENDC_SCALAR(Name, Types, ...)                                                           \
    ASCENDC_FORMS(Name, (typename U),                                                              \
                  (const LocalTensor<U> &dst, const LocalTensor<U> &src,                           \
                   emulation::Scalar<U> scalarValue),                                              \
                  Types, UnaryRepeatParams, sizeof(U),                                             \
                  const auto s = static_cast<emulation::Wide<U>>(scalarValue);                     \
                  emulation::Compute<emulation::Wide>(                                             \
                      call, walk, repeatParams, [s](auto a) { return __VA_ARGS__; },               \
                      std::index_sequence<0>(), dst, src))

#define ASCENDC_BINARY(Name, Types, ...)                                                           \
    ASCENDC_FORMS(Name, (typename U),                                                              \
                  (const LocalTensor<U> &dst, const LocalTensor<U> &src0,                          \
                   const LocalTensor<U> &src1),                                                    \
                  Types, BinaryRepeatParams, sizeof(U),                                            \
                  emulation::Compute<emulation::Wide>(                                             \
                      call, walk, repeatParams, [](auto a, auto b) { return __VA_ARGS__; },        \
                      std::index_sequence<0, 1>(), dst, src0, src1))

#define ASCENDC_INTO(Name, Types, ...)                                                             \
    ASCENDC_FORMS(Name, (typename D, typename U),                                                  \
                  (const LocalTensor<D> &dst, const LocalTensor<U> &src0,                          \
                   const LocalTensor<U> &src1),                                                    \
                  Types, BinaryRepeatParams, sizeof(D),                                            \
                  emulation::Accumulate(                                                           \
                      call, walk, repeatParams,                                                    \
                      [](auto d, auto a, auto b) { return __VA_ARGS__; }, dst, src0, src1))

#define ASCENDC_SCALAR_INTO(Name, Types, ...)                                                      \
    ASCENDC_FORMS(Name, (typename D, typename U),                                                  \
                  (const LocalTensor<D> &dst, const LocalTensor<U> &src,                           \
                   emulation::Scalar<U> scalarValue),                                              \
                  Types, UnaryRepeatParams, sizeof(D),                                             \
                  const auto s = static_cast<emulation::Wide<U>>(scalarValue);                     \
                  emulation::Accumulate(                                                           \
                      call, walk, repeatParams, [s](auto d, auto a) { return __VA_ARGS__; }, dst,  \
                      src))

#define ASCENDC_OPERATOR(op, Name)                                                                 \
    template <typename T>                                                                          \
    emulation::Pending<T> operator op(const LocalTensor<T> &src0, const LocalTensor<T> &src1)      \
    {                                                                                              \
        return {src0, src1, Name<T>};                                                              \
    }

/* The forms of a function of the library. */
#define ASCENDC_LIBRARY_FORM(Name, tensors, tail, length, ...)                                     \
    template <typename T, auto... flags>                                                           \
    void Name(ASCENDC_LIST tensors ASCENDC_LIST tail,                                              \
              emulation::Site site = emulation::Site::Here())                                      \
    {                                                                                              \
        const emulation::Call call(#Name, site);                                                   \
        const int64_t count = length;                                                              \
        __VA_ARGS__;                                                                               \
    }
#define ASCENDC_LIBRARY_FORMS(Name, tensors, scalar, first, ...)                                   \
    ASCENDC_LIBRARY_FORM(Name, tensors, scalar, first.GetSize(), __VA_ARGS__)                      \
    ASCENDC_LIBRARY_FORM(Name, tensors, (ASCENDC_LIST scalar, uint32_t calCount), calCount,        \
                         __VA_ARGS__)                                                              \
    ASCENDC_LIBRARY_FORM(Name, tensors,                                                            \
                         (ASCENDC_LIST scalar, const LocalTensor<uint8_t> &sharedTmpBuffer),       \
                         emulation::Within(call, sharedTmpBuffer, first.GetSize()), __VA_ARGS__)   \
    ASCENDC_LIBRARY_FORM(                                                                          \
        Name, tensors,                                                                             \
        (ASCENDC_LIST scalar, const LocalTensor<uint8_t> &sharedTmpBuffer, uint32_t calCount),     \
        emulation::Within(call, sharedTmpBuffer, calCount), __VA_ARGS__)

#define ASCENDC_LIBRARY_UNARY(Name, ...)                                                           \
    ASCENDC_LIBRARY_FORMS(Name, (const LocalTensor<T> &dst, const LocalTensor<T> &src), (), src,   \
                          emulation::Library(                                                      \
                              call, count, [](double a) { return __VA_ARGS__; }, dst, src))

#define ASCENDC_LIBRARY_BINARY(Name, ...)                                                          \
    ASCENDC_LIBRARY_FORMS(                                                                         \
        Name,                                                                                      \
        (const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1), (),   \
        src0,                                                                                      \
        emulation::Library(                                                                        \
            call, count, [](double a, double b) { return __VA_ARGS__; }, dst, src0, src1))

#define ASCENDC_LIBRARY_BINARY_SCALAR(Name, ...)                                                   \
    ASCENDC_LIBRARY_FORMS(                                                                         \
        Name,                                                                                      \
        (const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1),       \
        (, const emulation::Scalar<T> &scalarValue), src0,                                         \
        const auto s = static_cast<double>(scalarValue);                                           \
        emulation::Library(                                                                        \
            call, count, [s](double a, double b) { return __VA_ARGS__; }, dst, src0, src1))

#define ASCENDC_LIBRARY_BY_SCALAR(Name, ...)                                                       \
    ASCENDC_LIBRARY_FORMS(Name,                                                                    \
                          (const LocalTensor<T> &dst, const LocalTensor<T> &src,                   \
                           const emulation::Scalar<T> &scalarValue),                               \
                          (), src, ASCENDC_LIBRARY_SCALED(__VA_ARGS__))

/* Without temporary memory, the scalar stands behind the count, and before it in a clamp. */
#define ASCENDC_LIBRARY_SCALAR(Name, ...)                                                          \
    ASCENDC_LIBRARY_SCALAR_FORMS(                                                                  \
        Name, (, uint32_t calCount, const emulation::Scalar<T> scalarValue), __VA_ARGS__)
#define ASCENDC_LIBRARY_CLAMP(Name, ...)                                                           \
    ASCENDC_LIBRARY_SCALAR_FORMS(                                                                  \
        Name, (, const emulation::Scalar<T> scalarValue, uint32_t calCount), __VA_ARGS__)
#define ASCENDC_LIBRARY_SCALAR_FORMS(Name, tail, ...)                                              \
    ASCENDC_LIBRARY_FORM(Name, (const LocalTensor<T> &dst, const LocalTensor<T> &src), tail,       \
                         calCount, ASCENDC_LIBRARY_SCALED(__VA_ARGS__))                            \
    ASCENDC_LIBRARY_FORM(Name, (const LocalTensor<T> &dst, const LocalTensor<T> &src),             \
                         (, const LocalTensor<uint8_t> &sharedTmpBuffer,                           \
                          const emulation::Scalar<T> scalarValue, uint32_t calCount),              \
                         emulation::Within(call, sharedTmpBuffer, calCount),                       \
                         ASCENDC_LIBRARY_SCALED(__VA_ARGS__))
#define ASCENDC_LIBRARY_SCALED(...)                                                                \
    const auto s = static_cast<double>(scalarValue);                                               \
    emulation::Library(                                                                            \
        call, count, [s](double a) { return __VA_ARGS__; }, dst, src)

#include "ascendc/functions.def"

}  // namespace AscendC
