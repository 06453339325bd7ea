/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cast between element types, Duplicate of a scalar, Brcb of elements into blocks.
 */
#pragma once

#include <cmath>
#include <limits>

#include "ascendc/arithmetic.h"

namespace AscendC {

enum class RoundMode : uint8_t {
    CAST_NONE = 0,
    CAST_RINT,  /* to nearest, ties to even */
    CAST_FLOOR, /* towards minus infinity */
    CAST_CEIL,  /* towards plus infinity */
    CAST_ROUND, /* to nearest, ties away from zero */
    CAST_TRUNC, /* towards zero */
    CAST_ODD    /* to odd, of the two neighbours */
};

struct BrcbRepeatParams {
    BrcbRepeatParams() = default;
    BrcbRepeatParams(uint16_t dstBlkStride, uint16_t dstRepStride)
        : dstBlkStride(dstBlkStride), dstRepStride(dstRepStride)
    {
    }

    uint16_t dstBlkStride = 1, dstRepStride = 8;
};

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

/* A float as half in a direction: from the nearest half to its neighbour where that is wrong. */
inline half RoundHalf(float value, RoundMode mode)
{
    const half nearest(value);
    const float back = nearest;
    if (mode == RoundMode::CAST_NONE || mode == RoundMode::CAST_RINT || back == value ||
        value != value) {
        return nearest;
    }
    const auto outward = half::FromBits(static_cast<uint16_t>(nearest.bits + 1));
    const auto inward = half::FromBits(static_cast<uint16_t>(nearest.bits - 1));
    const bool larger = std::fabs(back) > std::fabs(value);
    const half away = larger ? nearest : outward, towards = larger ? inward : nearest;
    switch (mode) {
    case RoundMode::CAST_FLOOR: return value < 0 ? away : towards;
    case RoundMode::CAST_CEIL: return value < 0 ? towards : away;
    case RoundMode::CAST_TRUNC: return towards;
    case RoundMode::CAST_ODD: return (away.bits & 1U) != 0 ? away : towards;
    default: { /* CAST_ROUND */
        const float gap = std::fabs(float(away) - float(towards));
        return std::fabs(value - float(towards)) * 2 >= gap ? away : towards;
    }
    }
}

template <typename D, typename S> D Converted(S value, RoundMode mode)
{
    const auto wide = static_cast<float>(value);
    if constexpr (std::is_same_v<D, half>) {
        return RoundHalf(wide, mode);
    } else if constexpr (std::is_integral_v<D>) {
        const float rounded = RoundInteger(wide, mode);
        if (rounded != rounded) {
            return D(0);
        }
        const auto low = static_cast<double>(std::numeric_limits<D>::min());
        const auto high = static_cast<double>(std::numeric_limits<D>::max());
        const double bounded = std::fmin(std::fmax(static_cast<double>(rounded), low), high);
        return static_cast<D>(bounded);
    } else {
        return static_cast<D>(value);
    }
}

/* half to float and small integers to larger types lose nothing and know CAST_NONE only; what
 * becomes an integer needs a direction. */
template <typename D, typename S> void RequireCast(const Call &call, RoundMode mode)
{
    constexpr bool exact = (std::is_same_v<S, half> && std::is_same_v<D, float>) ||
                           (std::is_same_v<S, int16_t> && std::is_same_v<D, float>);
    constexpr bool to_integer = !std::is_integral_v<S> && std::is_integral_v<D>;
    constexpr bool narrows = std::is_same_v<S, float> && std::is_same_v<D, half>;
    constexpr bool from_integer = std::is_integral_v<S> && !std::is_integral_v<D>;
    if constexpr (!exact && !to_integer && !narrows && !from_integer) {
        call.Fail(rule::Dtype,
                  Text("there is no Cast from %s to %s", TypeName<S>(), TypeName<D>()));
    }
    if (exact && mode != RoundMode::CAST_NONE) {
        call.Fail(rule::Dtype, Text("%s to %s is exact: the round mode must be CAST_NONE",
                                    TypeName<S>(), TypeName<D>()));
    }
    if (to_integer && (mode == RoundMode::CAST_NONE || mode == RoundMode::CAST_ODD)) {
        call.Fail(rule::Dtype, Text("%s to %s needs one of the round modes CAST_RINT, CAST_FLOOR, "
                                    "CAST_CEIL, CAST_ROUND and CAST_TRUNC",
                                    TypeName<S>(), TypeName<D>()));
    }
}

template <typename D, typename S>
void CastOver(const Call &call, const Walk &walk, const LocalTensor<D> &dst,
              const LocalTensor<S> &src, RoundMode mode, const UnaryRepeatParams &p)
{
    RequireCast<D, S>(call, mode);
    Apply(walk, [mode](S value) { return Converted<D, S>(value, mode); },
          Walker<D>(call, "dst", dst, p.dstBlkStride, p.dstRepStride),
          Walker<S>(call, "src", src, p.srcBlkStride, p.srcRepStride));
}

}  // namespace emulation

template <typename D, typename S>
void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &roundMode,
          uint32_t count, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Cast", site);
    emulation::CastOver(call, emulation::Count(call, count), dst, src, roundMode, {});
}

template <typename D, typename S, typename Mask>
void Cast(const LocalTensor<D> &dst, const LocalTensor<S> &src, const RoundMode &roundMode,
          Mask mask, uint8_t repeatTimes, const UnaryRepeatParams &repeatParams,
          emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Cast", site);
    constexpr size_t widest = sizeof(D) > sizeof(S) ? sizeof(D) : sizeof(S);
    emulation::CastOver(call, emulation::Masked(call, mask, repeatTimes, widest), dst, src,
                        roundMode, repeatParams);
}

template <typename T>
void Duplicate(const LocalTensor<T> &dst, typename emulation::Same<T>::Type scalarValue,
               int32_t count, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Duplicate", site);
    emulation::Apply(emulation::Count(call, count), [scalarValue] { return scalarValue; },
                     emulation::Walker<T>(call, "dst", dst));
}

template <typename T, typename Mask>
void Duplicate(const LocalTensor<T> &dst, typename emulation::Same<T>::Type scalarValue, Mask mask,
               uint8_t repeatTimes, uint16_t dstBlockStride, uint8_t dstRepeatStride,
               emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Duplicate", site);
    emulation::Apply(emulation::Masked(call, mask, repeatTimes, sizeof(T)),
                     [scalarValue] { return scalarValue; },
                     emulation::Walker<T>(call, "dst", dst, dstBlockStride, dstRepeatStride));
}

/* Eight elements a repeat, each spread over a block of 32 bytes. */
template <typename T>
void Brcb(const LocalTensor<T> &dst, const LocalTensor<T> &src0, uint8_t repeatTimes,
          const BrcbRepeatParams &repeatParams, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Brcb", site);
    const emulation::Walker<T> to(call, "dst", dst), from(call, "src0", src0);
    if (to.operand.Overlaps(from.operand)) {
        to.operand.Fail(emulation::rule::Overlap, "it shares memory with src0, which it must not");
    }
    constexpr uint64_t in_block = emulation::BlockBytes / sizeof(T);
    for (uint64_t element = 0; element < uint64_t{repeatTimes} * 8; element++) {
        const T value = from.operand.Load(element);
        const uint64_t block =
            element / 8 * repeatParams.dstRepStride + element % 8 * repeatParams.dstBlkStride;
        for (uint64_t timeline = 0; timeline < in_block; timeline++) {
            to.operand.Store(block * in_block + timeline, value);
        }
    }
}

}  // namespace AscendC
