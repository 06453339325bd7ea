/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cast between element types, Duplicate of a scalar, indices, Brcb of elements into blocks,
 * broadcasts, transpositions.
 */
#pragma once

#include <cmath>
#include <limits>

#include "ascendc/arithmetic.h"
#include "ascendc/casts.h"
#include "ascendc/copy.h"

namespace AscendC {

struct BrcbRepeatFields {
    uint16_t dstBlkStride = 1, dstRepStride = 8;
};
using BrcbRepeatParams = emulation::Params<BrcbRepeatFields, uint16_t, uint16_t>;

namespace emulation {

inline float RoundInteger(float value, RoundMode mode)
{
    switch (mode) {
    case RoundMode::CAST_FLOOR: return std::floor(value);
    case RoundMode::CAST_CEIL: return std::ceil(value);
    case RoundMode::CAST_ROUND: return std::round(value);
    case RoundMode::CAST_TRUNC: return std::trunc(value);
    default: return std::nearbyint(value); /* the host's mode is to nearest even */
    }
}

/* A number in fewer bits in a direction: from the nearest to its neighbour where that is wrong. */
template <typename N, typename V> N RoundNarrow(V value, RoundMode mode)
{
    using Bits = std::conditional_t<sizeof(N) == 2, uint16_t, uint32_t>;
    const auto nearest = static_cast<N>(value);
    const V back = static_cast<float>(nearest);
    if (mode == RoundMode::CAST_NONE || mode == RoundMode::CAST_RINT || back == value ||
        value != value) {
        return nearest;
    }
    const auto bits = BitCast<Bits>(nearest);
    const auto outward = BitCast<N>(static_cast<Bits>(bits + 1));
    const auto inward = BitCast<N>(static_cast<Bits>(bits - 1));
    const bool larger = std::fabs(back) > std::fabs(value);
    const N away = larger ? nearest : outward, towards = larger ? inward : nearest;
    switch (mode) {
    case RoundMode::CAST_FLOOR: return value < 0 ? away : towards;
    case RoundMode::CAST_CEIL: return value < 0 ? towards : away;
    case RoundMode::CAST_TRUNC: return towards;
    case RoundMode::CAST_ODD: return (BitCast<Bits>(away) & 1U) != 0 ? away : towards;
    default: { /* CAST_ROUND */
        const V low = static_cast<float>(towards), gap = static_cast<float>(away) - low;
        return std::fabs(value - low) * 2 >= std::fabs(gap) ? away : towards;
    }
    }
}

template <typename D, typename S> D Converted(S value, RoundMode mode)
{
    const auto wide = static_cast<float>(value);
    if constexpr (kPacked<D>) {
        const float rounded = RoundInteger(wide, mode);
        return D(rounded != rounded ? 0 : static_cast<int>(std::clamp(rounded, -8.0F, 7.0F)));
    } else if constexpr (OneOf<D, half, bfloat16_t>()) {
        return RoundNarrow<D>(wide, mode);
    } else if constexpr (std::is_integral_v<S> && std::is_integral_v<D>) {
        constexpr auto low = int64_t{std::numeric_limits<D>::min()};
        constexpr auto high = int64_t{std::numeric_limits<D>::max()};
        return static_cast<D>(std::clamp(static_cast<int64_t>(value), low, high));
    } else if constexpr (std::is_integral_v<D>) {
        const float rounded = RoundInteger(wide, mode);
        if (rounded != rounded) {
            return D(0);
        }
        const auto low = static_cast<double>(std::numeric_limits<D>::min());
        const auto high = static_cast<double>(std::numeric_limits<D>::max());
        /* The maximum of 64 bits is no double: high is the number behind it. */
        return rounded >= high ? std::numeric_limits<D>::max()
                               : static_cast<D>(std::fmax(static_cast<double>(rounded), low));
    } else if constexpr (std::is_same_v<S, D>) {
        return RoundInteger(value, mode);
    } else if constexpr (std::is_integral_v<S>) {
        return RoundNarrow<D>(static_cast<long double>(value), mode); /* holds 64 bits */
    } else {
        return wide;
    }
}

template <typename D, typename S>
void CastOver(const Call &call, const Walk &walk, const LocalTensor<D> &dst,
              const LocalTensor<S> &src, RoundMode mode, const UnaryRepeatParams &p)
{
    RequireCast<D, S>(call, mode);
    const auto convert = [mode](S value) {
        if constexpr (std::is_same_v<S, int32_t> && std::is_same_v<D, half>) {
            return Converted<D>(static_cast<float>(value) * *Core::Current().deq_scale, mode);
        } else {
            return Converted<D>(value, mode);
        }
    };
    Apply(walk, convert, Walker<D>(call, "dst", dst, p.dstBlkStride, p.dstRepStride),
          Walker<S>(call, "src", src, p.srcBlkStride, p.srcRepStride));
}

template <typename T, typename F> void Fill(const Walk &walk, const Walker<T> &dst, F f)
{
    walk.Each([&](uint64_t repeat, uint64_t timeline) {
        dst.operand.Store(dst.At(repeat, timeline), f(repeat * walk.width + timeline));
    });
}

}  // namespace emulation

/* By which Cast multiplies from int32_t to half. */
inline void SetDeqScale(half scale) { emulation::Core::Current().deq_scale = scale; }

template <typename D, typename S, auto... flags>
void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &roundMode,
          uint32_t count, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Cast", site);
    emulation::CastOver(call, emulation::Count(call, count), dst, src, roundMode, {});
}

template <typename D, typename S, auto... flags, typename Mask>
void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &roundMode,
          Mask mask, int64_t repeatTimes, const UnaryRepeatParams &repeatParams,
          emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Cast", site);
    static_assert(!emulation::kPacked<D> && !emulation::kPacked<S>,
                  "Cast of int4b_t is simulated for a count, not for a mask");
    constexpr size_t widest = sizeof(D) > sizeof(S) ? sizeof(D) : sizeof(S);
    emulation::CastOver(call,
                        emulation::MaskedBy<emulation::SetsMask<flags...>()>(call, mask,
                                                                             repeatTimes, widest),
                        dst, src, roundMode, repeatParams);
}

/* dst = f(number of the element): of a count, of repeats. */
#define ASCENDC_FILL(Name, ...)                                                                    \
    template <typename T, auto... flags>                                                           \
    void Name(const LocalTensor<T> &dst, emulation::Scalar<T> value, int32_t count,                \
              emulation::Site site = emulation::Site::Here())                                      \
    {                                                                                              \
        const emulation::Call call(#Name, site);                                                   \
        emulation::Fill(emulation::Count(call, count), emulation::Walker<T>(call, "dst", dst),     \
                        [value](uint64_t i) { return static_cast<T>(__VA_ARGS__); });              \
    }                                                                                              \
    template <typename T, auto... flags, typename Mask>                                            \
    void Name(const LocalTensor<T> &dst, emulation::Scalar<T> value, Mask mask,                    \
              int64_t repeatTimes, uint16_t dstBlockStride, uint8_t dstRepeatStride,               \
              emulation::Site site = emulation::Site::Here())                                      \
    {                                                                                              \
        const emulation::Call call(#Name, site);                                                   \
        emulation::Fill(emulation::MaskedBy<emulation::SetsMask<flags...>()>(                      \
                            call, mask, repeatTimes, sizeof(T)),                                   \
                        emulation::Walker<T>(call, "dst", dst, dstBlockStride, dstRepeatStride),   \
                        [value](uint64_t i) { return static_cast<T>(__VA_ARGS__); });              \
    }

ASCENDC_FILL(Duplicate, (static_cast<void>(i), value))
ASCENDC_FILL(CreateVecIndex, static_cast<float>(value) + static_cast<float>(i))

#undef ASCENDC_FILL

template <typename T, auto... flags, typename Mask>
void Copy(const LocalTensor<T> &dst, const LocalTensor<T> &src, Mask mask, int64_t repeatTimes,
          const CopyRepeatParams &p, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Copy", site);
    emulation::Apply(emulation::MaskedBy<emulation::SetsMask<flags...>()>(call, mask, repeatTimes,
                                                                          sizeof(T)),
                     [](T value) { return value; },
                     emulation::Walker<T>(call, "dst", dst, p.dstStride, p.dstRepeatSize),
                     emulation::Walker<T>(call, "src", src, p.srcStride, p.srcRepeatSize));
}

/* firstValue, firstValue + diffValue and so on. */
template <typename T>
void ArithProgression(const LocalTensor<T> &dst, emulation::Scalar<T> firstValue,
                      emulation::Scalar<T> diffValue, int32_t count,
                      emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("ArithProgression", site);
    emulation::Fill(emulation::Count(call, count), emulation::Walker<T>(call, "dst", dst),
                    [=](uint64_t i) {
                        return emulation::NarrowTo<T>(emulation::Wide<T>(firstValue) +
                                                      static_cast<emulation::Wide<T>>(i) *
                                                          emulation::Wide<T>(diffValue));
                    });
}

template <typename T>
void Arange(const LocalTensor<T> &dst, emulation::Scalar<T> firstValue,
            emulation::Scalar<T> diffValue, int32_t count,
            emulation::Site site = emulation::Site::Here())
{
    ArithProgression(dst, firstValue, diffValue, count, site);
}

/* Eight elements a repeat, each spread over a block of 32 bytes. */
template <typename T>
void Brcb(const LocalTensor<T> &dst, const LocalTensor<T> &src0, int64_t repeatTimes,
          const BrcbRepeatParams &repeatParams, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Brcb", site);
    const emulation::Walker<T> to(call, "dst", dst), from(call, "src0", src0);
    if (to.operand.Overlaps(from.operand)) {
        to.operand.Fail(emulation::rule::Overlap, "it shares memory with src0, which it must not");
    }
    constexpr uint64_t in_block = emulation::BlockBytes / sizeof(T);
    const uint64_t elements = uint64_t{emulation::Repeats(call, repeatTimes)} * 8;
    for (uint64_t element = 0; element < elements; element++) {
        const uint64_t block =
            element / 8 * repeatParams.dstRepStride + element % 8 * repeatParams.dstBlkStride;
        for (uint64_t timeline = 0; timeline < in_block; timeline++) {
            emulation::Move(to.operand, block * in_block + timeline, from.operand, element);
        }
    }
}

/* An axis of one element, repeated to the length of dst's. */
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
void BroadCast(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t dstShape[dim],
               const uint32_t srcShape[dim], emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("BroadCast", site);
    const emulation::Walker<T> to(call, "dst", dst), from(call, "src", src);
    uint32_t outer = 1, inner = 1;
    for (int32_t i = 0; i < dim; i++) {
        if (srcShape[i] != (i == axis ? 1 : dstShape[i])) {
            call.Fail(emulation::rule::Bounds,
                      emulation::Text("axis %d of srcShape is %u; it must be %u", i, srcShape[i],
                                      i == axis ? 1U : dstShape[i]));
        }
        (i < axis ? outer : inner) *= i == axis ? 1U : dstShape[i];
    }
    for (uint64_t i = 0; i < uint64_t{outer} * dstShape[axis] * inner; i++) {
        to.operand.Store(i, from.operand.Load(i / inner / dstShape[axis] * inner + i % inner));
    }
}

template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false>
void BroadCast(const LocalTensor<T> &dst, const LocalTensor<T> &src, const uint32_t dstShape[dim],
               const uint32_t srcShape[dim], const LocalTensor<uint8_t> &sharedTmpBuffer,
               emulation::Site site = emulation::Site::Here())
{
    emulation::Within(emulation::Call("BroadCast", site), sharedTmpBuffer, 0);
    BroadCast<T, dim, axis>(dst, src, dstShape, srcShape, site);
}

/* Its newer name. */
template <typename T, int32_t dim, int32_t axis, bool isReuseSource = false, typename... Rest>
void Broadcast(const LocalTensor<T> &dst, const LocalTensor<T> &src, Rest... rest)
{
    BroadCast<T, dim, axis, isReuseSource>(dst, src, rest...);
}

struct TransDataTo5HDFields {
    bool dstHighHalf = false, srcHighHalf = false;
    uint8_t repeatTimes = 1;
    uint16_t dstRepStride = 0, srcRepStride = 0;
};
using TransDataTo5HDParams =
    emulation::Params<TransDataTo5HDFields, bool, bool, uint8_t, uint16_t, uint16_t>;

namespace emulation {

/* The tensor at an address of on-chip memory, to the end of its buffer. */
template <typename T> LocalTensor<T> TensorAt(const Call &call, const uint8_t *address)
{
    for (Buffer &buffer : Core::Current().buffers) {
        const uint8_t *first = &buffer.arena->bytes[buffer.begin];
        if (buffer.state != BufferState::Retired && address >= first &&
            address < first + buffer.size) {
            const auto begin = static_cast<uint32_t>(address - first);
            return Maker::Make<T>(buffer, begin, buffer.size - begin);
        }
    }
    call.Fail(rule::Bounds, "an address of the list points to no buffer: take GetPhyAddr's");
}

template <typename T>
LocalTensor<T> TensorAt(const Call &call, uint64_t address)
{
    return TensorAt<T>(call, reinterpret_cast<const uint8_t *>(address));
}

template <typename T> LocalTensor<T> TensorAt(const Call &, const LocalTensor<T> &tensor)
{
    return tensor;
}

}  // namespace emulation

/* Element j of row i becomes element i of row j: 16 rows of a block, for each repeat. */
template <typename T, typename Place>
void TransDataTo5HD(const Place (&dstList)[16], const Place (&srcList)[16],
                    const TransDataTo5HDParams &params,
                    emulation::Site site = emulation::Site::Here())
{
    static_assert(sizeof(T) == 2 || sizeof(T) == 4, "elements of 16 or 32 bits");
    const emulation::Call call("TransDataTo5HD", site);
    constexpr uint64_t in_block = emulation::BlockBytes / sizeof(T);
    for (uint64_t repeat = 0; repeat < params.repeatTimes; repeat++) {
        T values[16][in_block];
        for (uint64_t i = 0; i < 16; i++) {
            const auto tensor = emulation::TensorAt<T>(call, srcList[i]);
            const emulation::Walker<T> from(call, "srcList", tensor, 1, params.srcRepStride);
            for (uint64_t j = 0; j < in_block; j++) {
                values[i][j] = from.Load(repeat, j);
            }
        }
        for (uint64_t i = 0; i < 16; i++) {
            const auto tensor = emulation::TensorAt<T>(call, dstList[i]);
            const emulation::Walker<T> to(call, "dstList", tensor, 1, params.dstRepStride);
            for (uint64_t j = 0; j < in_block; j++) {
                /* of 32 bits, two lists of dst make a column of 16 */
                const uint64_t row = sizeof(T) == 2 ? j : i % 2 * in_block + j;
                to.operand.Store(to.At(repeat, j), values[row][sizeof(T) == 2 ? i : i / 2]);
            }
        }
    }
}

/* 16 by 16 elements of 16 bits. */
template <typename T>
void Transpose(const LocalTensor<T> &dst, const LocalTensor<T> &src,
               emulation::Site site = emulation::Site::Here())
{
    LocalTensor<T> to[16], from[16];
    for (int i = 0; i < 16; i++) {
        to[i] = dst[16 * i];
        from[i] = src[16 * i];
    }
    TransDataTo5HD<T>(to, from, {}, site);
}

}  // namespace AscendC
