/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparison and selection of the vector unit, bits of integers, gathering by offsets, and the
 * largest and smallest element. A result of a comparison is one bit for each element.
 */
#pragma once

#include "ascendc/arithmetic.h"
#include "ascendc/reduction.h"

namespace AscendC {

enum class CMPMODE : uint8_t { LT = 0, GT, EQ, LE, GE, NE };

enum class SELMODE : uint8_t {
    VSEL_CMPMASK_SPR = 0,      /* the mask of one repeat, time and again */
    VSEL_TENSOR_SCALAR_MODE,   /* a tensor, or a scalar where the bit is 0 */
    VSEL_TENSOR_TENSOR_MODE    /* one tensor, or another where the bit is 0 */
};

namespace emulation {

template <typename T> bool Compared(T a, T b, CMPMODE mode)
{
    switch (mode) {
    case CMPMODE::LT: return a < b;
    case CMPMODE::GT: return b < a;
    case CMPMODE::EQ: return a == b;
    case CMPMODE::LE: return a <= b;
    case CMPMODE::GE: return b <= a;
    default: return !(a == b);
    }
}

/* The bits of the first `count` elements, in whole bytes. */
template <typename U, typename F>
void StoreBits(const Call &call, const LocalTensor<U> &dst, uint32_t count, F bit)
{
    static_assert(sizeof(U) == 1, "a comparison writes bits into bytes");
    const Walker<U> to(call, "dst", dst);
    for (uint32_t first = 0; first < count; first += 8) {
        unsigned byte = 0;
        for (uint32_t i = first; i < first + 8 && i < count; i++) {
            byte |= bit(i) ? 1U << (i - first) : 0U;
        }
        to.operand.Store(first / 8, static_cast<U>(byte));
    }
}

template <typename T, typename U, typename Other>
void SelectOver(const Call &call, const LocalTensor<T> &dst, const LocalTensor<U> &mask,
                const LocalTensor<T> &src0, Other other, SELMODE mode, uint32_t count)
{
    constexpr uint32_t in_repeat = RepeatBytes / sizeof(T);
    const Walker<T> to(call, "dst", dst), from(call, "src0", src0);
    const LocalTensor<uint8_t> bytes = mask.template ReinterpretCast<uint8_t>();
    const Walker<uint8_t> bits(call, "selMask", bytes);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = mode == SELMODE::VSEL_CMPMASK_SPR ? i % in_repeat : i;
        const bool chosen = (bits.operand.Load(at / 8) >> (at % 8) & 1U) != 0;
        to.operand.Store(i, chosen ? from.operand.Load(i) : other(i));
    }
}

/* The extreme of the first `count` elements, and where it is first. */
template <typename T, typename Better>
std::pair<T, uint32_t> Extreme(const Walker<T> &from, const std::vector<uint64_t> &places,
                               Better better)
{
    T best = from.operand.Load(places.front());
    uint32_t index = 0;
    for (uint32_t i = 1; i < places.size(); i++) {
        const T value = from.operand.Load(places[i]);
        if (better(value, best)) {
            best = value;
            index = i;
        }
    }
    return {best, index};
}

template <typename T> T IndexAs(uint32_t index)
{
    T bits{};
    if constexpr (sizeof(T) == sizeof(uint16_t)) {
        const auto narrow = static_cast<uint16_t>(index);
        std::memcpy(&bits, &narrow, sizeof bits);
    } else {
        std::memcpy(&bits, &index, sizeof bits);
    }
    return bits;
}

template <typename T, typename Better>
void ReduceExtreme(const Call &call, const LocalTensor<T> &dst, const LocalTensor<T> &src,
                   int32_t count, bool index, Better better)
{
    RequireType<T, half, float>(call);
    const Walker<T> from(call, "src", src), to(call, "dst", dst);
    const Walk all = Count(call, count);
    const std::vector<uint64_t> places(all.timelines.begin(), all.timelines.end());
    if (places.empty()) {
        call.Fail(rule::Bounds, "the count is 0; it must be positive");
    }
    const auto [best, where] = Extreme(from, places, better);
    to.operand.Store(0, best);
    if (index) {
        to.operand.Store(1, IndexAs<T>(where));
    }
}

struct Less {
    template <typename T> bool operator()(T a, T b) const { return a < b; }
};
struct More {
    template <typename T> bool operator()(T a, T b) const { return b < a; }
};

}  // namespace emulation

template <typename T, typename U>
void Compare(const LocalTensor<U> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
             CMPMODE cmpMode, uint32_t count, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Compare", site);
    emulation::RequireType<T, half, float, int32_t>(call);
    const emulation::Walker<T> a(call, "src0", src0), b(call, "src1", src1);
    emulation::StoreBits(call, dst, count, [&](uint32_t i) {
        return emulation::Compared(a.operand.Load(i), b.operand.Load(i), cmpMode);
    });
}

template <typename T, typename U>
void CompareScalar(const LocalTensor<U> &dst, const LocalTensor<T> &src0,
                   typename emulation::Same<T>::Type src1Scalar, CMPMODE cmpMode, uint32_t count,
                   emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("CompareScalar", site);
    emulation::RequireType<T, half, float, int32_t>(call);
    const emulation::Walker<T> a(call, "src0", src0);
    emulation::StoreBits(call, dst, count, [&](uint32_t i) {
        return emulation::Compared(a.operand.Load(i), src1Scalar, cmpMode);
    });
}

template <typename T, typename U>
void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0,
            const LocalTensor<T> &src1, SELMODE selMode, uint32_t count,
            emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Select", site);
    emulation::RequireType<T, half, float>(call);
    const emulation::Walker<T> from(call, "src1", src1);
    emulation::SelectOver(call, dst, selMask, src0,
                          [&](uint32_t i) { return from.operand.Load(i); }, selMode, count);
}

template <typename T, typename U>
void Select(const LocalTensor<T> &dst, const LocalTensor<U> &selMask, const LocalTensor<T> &src0,
            typename emulation::Same<T>::Type src1, SELMODE selMode, uint32_t count,
            emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Select", site);
    emulation::RequireType<T, half, float>(call);
    emulation::SelectOver(call, dst, selMask, src0, [src1](uint32_t) { return src1; }, selMode,
                          count);
}

/* srcOffset: distances in bytes from src's first element on. */
template <typename T>
void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src,
            const LocalTensor<uint32_t> &srcOffset, uint32_t srcBaseAddr, uint32_t count,
            emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Gather", site);
    const emulation::Walker<T> to(call, "dst", dst), from(call, "src", src);
    const emulation::Walker<uint32_t> offsets(call, "srcOffset", srcOffset);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t byte = uint64_t{srcBaseAddr} + offsets.operand.Load(i);
        if (byte % sizeof(T) != 0) {
            offsets.operand.Fail(emulation::rule::Alignment,
                                 emulation::Text("offset %llu is no multiple of the element's %zu "
                                                 "bytes",
                                                 static_cast<unsigned long long>(byte), sizeof(T)));
        }
        to.operand.Store(i, from.operand.Load(byte / sizeof(T)));
    }
}

template <typename T>
void ReduceMax(const LocalTensor<T> &dst, const LocalTensor<T> &src,
               const LocalTensor<T> &sharedTmpBuffer, int32_t count, bool calIndex = false,
               emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("ReduceMax", site);
    const emulation::Walker<T> work(call, "sharedTmpBuffer", sharedTmpBuffer);
    emulation::ReduceExtreme(call, dst, src, count, calIndex, emulation::More());
}

template <typename T>
void ReduceMin(const LocalTensor<T> &dst, const LocalTensor<T> &src,
               const LocalTensor<T> &sharedTmpBuffer, int32_t count, bool calIndex = false,
               emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("ReduceMin", site);
    const emulation::Walker<T> work(call, "sharedTmpBuffer", sharedTmpBuffer);
    emulation::ReduceExtreme(call, dst, src, count, calIndex, emulation::Less());
}

#define ASCENDC_BITS(Name, expression)                                                            \
    template <typename T>                                                                         \
    void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,  \
              int32_t count, emulation::Site site = emulation::Site::Here())                      \
    {                                                                                             \
        const emulation::Call call(#Name, site);                                                  \
        emulation::RequireType<T, int16_t, uint16_t>(call);                                       \
        emulation::Apply(emulation::Count(call, count),                                           \
                         [](T a, T b) { return static_cast<T>(expression); },                     \
                         emulation::Walker<T>(call, "dst", dst),                                  \
                         emulation::Walker<T>(call, "src0", src0),                                \
                         emulation::Walker<T>(call, "src1", src1));                               \
    }

ASCENDC_BITS(And, a &b)
ASCENDC_BITS(Or, a | b)

#undef ASCENDC_BITS

template <typename T>
void LeakyRelu(const LocalTensor<T> &dst, const LocalTensor<T> &src,
               typename emulation::Same<T>::Type scalarValue, int32_t count,
               emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("LeakyRelu", site);
    emulation::RequireType<T, half, float>(call);
    emulation::Apply(
        emulation::Count(call, count),
        [scalarValue](T value) {
            const auto x = static_cast<float>(value);
            return x >= 0.0F ? value : static_cast<T>(x * static_cast<float>(scalarValue));
        },
        emulation::Walker<T>(call, "dst", dst), emulation::Walker<T>(call, "src", src));
}

/* dst += src * scalarValue. */
template <typename T>
void Axpy(const LocalTensor<T> &dst, const LocalTensor<T> &src,
          typename emulation::Same<T>::Type scalarValue, int32_t count,
          emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Axpy", site);
    emulation::RequireType<T, half, float>(call);
    const emulation::Walker<T> to(call, "dst", dst);
    emulation::Apply(
        emulation::Count(call, count),
        [scalarValue](T sum, T value) {
            return static_cast<T>(static_cast<float>(sum) +
                                  static_cast<float>(value) * static_cast<float>(scalarValue));
        },
        to, to, emulation::Walker<T>(call, "src", src));
}

/* dst[i] = firstValue + i. */
template <typename T>
void CreateVecIndex(const LocalTensor<T> &dst, typename emulation::Same<T>::Type firstValue,
                    uint32_t count, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("CreateVecIndex", site);
    const emulation::Walker<T> to(call, "dst", dst);
    for (uint32_t i = 0; i < count; i++) {
        to.operand.Store(i, static_cast<T>(static_cast<float>(firstValue) + static_cast<float>(i)));
    }
}

}  // namespace AscendC
