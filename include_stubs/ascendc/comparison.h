/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparison and selection of the vector unit, and gathering. A result of a comparison is one bit
 * for each element.
 */
#pragma once

#include "ascendc/arithmetic.h"

namespace AscendC {

enum class CMPMODE : uint8_t { LT = 0, GT, EQ, LE, GE, NE };

enum class SELMODE : uint8_t {
    VSEL_CMPMASK_SPR = 0,      /* the mask of one repeat, time and again */
    VSEL_TENSOR_SCALAR_MODE,   /* a tensor, or a scalar where the bit is 0 */
    VSEL_TENSOR_TENSOR_MODE    /* one tensor, or another where the bit is 0 */
};

/* Blocks of the source, elements of the pattern. */
struct GatherMaskFields {
    uint8_t src0BlockStride = 1;
    uint16_t repeatTimes = 1;
    uint16_t src0RepeatStride = 8;
    uint8_t src1RepeatStride = 8;
};
using GatherMaskParams = emulation::Params<GatherMaskFields, uint8_t, uint16_t, uint16_t, uint8_t>;

struct GatherRepeatFields {
    uint16_t dstBlkStride = 1, dstRepStride = 8;
};
using GatherRepeatParams = emulation::Params<GatherRepeatFields, uint16_t, uint16_t>;

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

/* The bits of a walk, in whole bytes; those of elements that take no part are 0. */
template <typename D, typename F>
void StoreBits(const Call &call, const Walk &walk, const LocalTensor<D> &dst, F bit)
{
    const Walker<uint8_t> to(call, "dst", dst.template ReinterpretCast<uint8_t>());
    std::vector<uint8_t> bytes((uint64_t{walk.width} * walk.repeats + 7) / 8);
    walk.Each([&](uint64_t repeat, uint64_t timeline) {
        const uint64_t at = repeat * walk.width + timeline;
        bytes[at / 8] |= static_cast<uint8_t>(bit(repeat, timeline) ? 1U << (at % 8) : 0U);
    });
    for (uint64_t at = 0; at < bytes.size(); at++) {
        to.operand.Store(at, bytes[at]);
    }
}

constexpr uint64_t CompareMaskBytes = 16;

inline std::vector<uint8_t> CompareMask(const Call &call)
{
    const auto &bits = Core::Current().compared;
    if (!bits) {
        call.Fail(rule::Uninitialised, "the compare mask is read; call SetCmpMask, or Compare "
                                       "without a result, before it");
    }
    return *bits;
}

template <typename T, typename Bits, typename Other>
void SelectOver(const Call &call, const Walk &walk, const BinaryRepeatParams &p,
                const LocalTensor<T> &dst, Bits chosen, const LocalTensor<T> &src0, Other other)
{
    const Walker<T> to(call, "dst", dst, p.dstBlkStride, p.dstRepStride);
    const Walker<T> from(call, "src0", src0, p.src0BlkStride, p.src0RepStride);
    walk.Each([&](uint64_t repeat, uint64_t timeline) {
        to.operand.Store(to.At(repeat, timeline),
                         chosen(repeat, timeline) ? from.Load(repeat, timeline)
                                                  : other(repeat, timeline));
    });
}

template <typename T, typename M>
auto SelectedBy(const Call &call, const Walk &walk, const LocalTensor<M> &mask, SELMODE mode)
{
    constexpr uint32_t in_repeat = RepeatBytes / sizeof(T);
    return [bits = Walker<uint8_t>(call, "selMask", mask.template ReinterpretCast<uint8_t>()),
            width = walk.width, mode](uint64_t repeat, uint64_t timeline) {
        uint64_t at = repeat * width + timeline;
        at = mode == SELMODE::VSEL_CMPMASK_SPR ? at % in_repeat : at;
        return (bits.operand.Load(at / 8) >> (at % 8) & 1U) != 0;
    };
}

template <typename T>
T Picked(const Operand<T> &from, const Operand<uint32_t> &offsets, uint64_t byte)
{
    if (byte % sizeof(T) != 0) {
        offsets.Fail(rule::Alignment,
                     Text("offset %llu is no multiple of the element's %zu bytes",
                          static_cast<unsigned long long>(byte), sizeof(T)));
    }
    return from.Load(byte / sizeof(T));
}

}  // namespace emulation

/* Comparison with a tensor or a number: bits of a count, of repeats. */
#define ASCENDC_COMPARE(Name, second, Params, size, ...)                                           \
    template <typename T, typename D, auto... flags>                                               \
    void Name(const LocalTensor<D> &dst, const LocalTensor<T> &src0, ASCENDC_LIST second,          \
              CMPMODE cmpMode, uint32_t count, emulation::Site site = emulation::Site::Here())     \
    {                                                                                              \
        const emulation::Call call(#Name, site);                                                   \
        emulation::RequireType<T, half, float, int32_t>(call);                                     \
        const emulation::Walk walk = emulation::Count(call, count);                                \
        const Params p;                                                                            \
        __VA_ARGS__;                                                                               \
    }                                                                                              \
    template <typename T, typename D, auto... flags, typename Mask>                                \
    void Name(const LocalTensor<D> &dst, const LocalTensor<T> &src0, ASCENDC_LIST second,          \
              CMPMODE cmpMode, Mask mask, int64_t repeatTimes, const Params &p,                    \
              emulation::Site site = emulation::Site::Here())                                      \
    {                                                                                              \
        const emulation::Call call(#Name, site);                                                   \
        emulation::RequireType<T, half, float, int32_t>(call);                                     \
        const emulation::Walk walk = emulation::MaskedBy<emulation::SetsMask<flags...>()>(         \
            call, mask, repeatTimes, sizeof(T));                                                   \
        __VA_ARGS__;                                                                               \
    }

#define ASCENDC_COMPARE_SCALAR(Name)                                                               \
    ASCENDC_COMPARE(                                                                               \
        Name, (emulation::Scalar<T> src1Scalar), UnaryRepeatParams, sizeof(T),                     \
        const emulation::Walker<T> a(call, "src0", src0, p.srcBlkStride, p.srcRepStride);          \
        emulation::StoreBits(call, walk, dst, [&](uint64_t repeat, uint64_t timeline) {            \
            return emulation::Compared(a.Load(repeat, timeline), src1Scalar, cmpMode);             \
        }))

ASCENDC_COMPARE(
    Compare, (const LocalTensor<T> &src1), BinaryRepeatParams, sizeof(T),
    const emulation::Walker<T> a(call, "src0", src0, p.src0BlkStride, p.src0RepStride);
    const emulation::Walker<T> b(call, "src1", src1, p.src1BlkStride, p.src1RepStride);
    emulation::StoreBits(call, walk, dst, [&](uint64_t repeat, uint64_t timeline) {
        return emulation::Compared(a.Load(repeat, timeline), b.Load(repeat, timeline), cmpMode);
    }))
ASCENDC_COMPARE_SCALAR(CompareScalar)
ASCENDC_COMPARE_SCALAR(Compares)

#define ASCENDC_SELECT(second, other)                                                              \
    template <typename T, typename M, auto... flags>                                               \
    void Select(const LocalTensor<T> &dst, const LocalTensor<M> &selMask,                          \
                const LocalTensor<T> &src0, ASCENDC_LIST second, SELMODE selMode, uint32_t count,  \
                emulation::Site site = emulation::Site::Here())                                    \
    {                                                                                              \
        const emulation::Call call("Select", site);                                                \
        emulation::RequireType<T, half, float>(call);                                              \
        const emulation::Walk walk = emulation::Count(call, count);                                \
        const BinaryRepeatParams p;                                                                \
        emulation::SelectOver(call, walk, p, dst,                                                  \
                              emulation::SelectedBy<T>(call, walk, selMask, selMode), src0,        \
                              other);                                                              \
    }                                                                                              \
    template <typename T, typename M, auto... flags, typename Mask>                                \
    void Select(const LocalTensor<T> &dst, const LocalTensor<M> &selMask,                          \
                const LocalTensor<T> &src0, ASCENDC_LIST second, SELMODE selMode, Mask mask,       \
                int64_t repeatTimes, const BinaryRepeatParams &p,                                  \
                emulation::Site site = emulation::Site::Here())                                    \
    {                                                                                              \
        const emulation::Call call("Select", site);                                                \
        emulation::RequireType<T, half, float>(call);                                              \
        const emulation::Walk walk = emulation::MaskedBy<emulation::SetsMask<flags...>()>(         \
            call, mask, repeatTimes, sizeof(T));                                                   \
        emulation::SelectOver(call, walk, p, dst,                                                  \
                              emulation::SelectedBy<T>(call, walk, selMask, selMode), src0,        \
                              other);                                                              \
    }

ASCENDC_SELECT((const LocalTensor<T> &src1),
               ([from = emulation::Walker<T>(call, "src1", src1, p.src1BlkStride,
                                             p.src1RepStride)](uint64_t repeat,
                                                               uint64_t timeline) {
                   return from.Load(repeat, timeline);
               }))
ASCENDC_SELECT((emulation::Scalar<T> src1), ([src1](uint64_t, uint64_t) { return src1; }))

/* The compare mask, a register of one repeat: written by Compare without a result, and here. */
template <typename T, auto... flags, typename Mask>
void Compare(const LocalTensor<T> &src0, const LocalTensor<T> &src1, CMPMODE cmpMode, Mask mask,
             const BinaryRepeatParams &p, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Compare", site);
    emulation::RequireType<T, half, float>(call);
    const emulation::Walker<T> a(call, "src0", src0, p.src0BlkStride, p.src0RepStride);
    const emulation::Walker<T> b(call, "src1", src1, p.src1BlkStride, p.src1RepStride);
    std::vector<uint8_t> bits(emulation::CompareMaskBytes);
    emulation::MaskedBy<emulation::SetsMask<flags...>()>(call, mask, 1, sizeof(T))
        .Each([&](uint64_t repeat, uint64_t timeline) {
            const bool holds = emulation::Compared(a.Load(repeat, timeline),
                                                   b.Load(repeat, timeline), cmpMode);
            bits[timeline / 8] |= static_cast<uint8_t>(holds ? 1U << (timeline % 8) : 0U);
        });
    emulation::Core::Current().compared = bits;
}

template <typename T>
void SetCmpMask(const LocalTensor<T> &src, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("SetCmpMask", site);
    const emulation::Walker<uint8_t> from(call, "src", src.template ReinterpretCast<uint8_t>());
    const uint8_t *bits = from.operand.Read(0, emulation::CompareMaskBytes);
    emulation::Core::Current().compared.emplace(bits, bits + emulation::CompareMaskBytes);
}

template <typename T>
void GetCmpMask(const LocalTensor<T> &dst, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("GetCmpMask", site);
    const emulation::Walker<uint8_t> to(call, "dst", dst.template ReinterpretCast<uint8_t>());
    const std::vector<uint8_t> bits = emulation::CompareMask(call);
    std::copy(bits.begin(), bits.end(), to.operand.Write(0, bits.size()));
}

/* By the compare mask, whole repeats within the mask of SetVectorMask. */
template <typename T, SELMODE selMode>
void Select(const LocalTensor<T> &dst, const LocalTensor<T> &src0, const LocalTensor<T> &src1,
            int64_t repeatTimes, const BinaryRepeatParams &p,
            emulation::Site site = emulation::Site::Here())
{
    static_assert(selMode == SELMODE::VSEL_CMPMASK_SPR,
                  "without selMask, Select takes the compare mask: SELMODE::VSEL_CMPMASK_SPR");
    const emulation::Call call("Select", site);
    emulation::RequireType<T, half, float>(call);
    const std::vector<uint8_t> bits = emulation::CompareMask(call);
    const emulation::Walker<T> other(call, "src1", src1, p.src1BlkStride, p.src1RepStride);
    emulation::SelectOver(
        call, emulation::MaskedBy<false>(call, MASK_PLACEHOLDER, repeatTimes, sizeof(T)), p, dst,
        [&](uint64_t, uint64_t timeline) {
            return (bits[timeline / 8] >> (timeline % 8) & 1U) != 0;
        },
        src0, [&](uint64_t repeat, uint64_t timeline) { return other.Load(repeat, timeline); });
}

#undef ASCENDC_COMPARE
#undef ASCENDC_COMPARE_SCALAR
#undef ASCENDC_SELECT

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
        to.operand.Store(i, emulation::Picked(from.operand, offsets.operand,
                                              uint64_t{srcBaseAddr} + offsets.operand.Load(i)));
    }
}

template <typename T, typename Mask>
void Gather(const LocalTensor<T> &dst, const LocalTensor<T> &src,
            const LocalTensor<uint32_t> &srcOffset, uint32_t srcBaseAddr, Mask mask,
            int64_t repeatTimes, uint16_t dstRepStride,
            emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Gather", site);
    const emulation::Walker<T> to(call, "dst", dst, 1, dstRepStride), from(call, "src", src);
    const emulation::Walker<uint32_t> offsets(call, "srcOffset", srcOffset);
    const emulation::Walk walk = emulation::MaskedBy<true>(call, mask, repeatTimes, sizeof(T));
    walk.Each([&](uint64_t repeat, uint64_t timeline) {
        const uint64_t byte =
            uint64_t{srcBaseAddr} + offsets.operand.Load(repeat * walk.width + timeline);
        to.operand.Store(to.At(repeat, timeline),
                         emulation::Picked(from.operand, offsets.operand, byte));
    });
}

/* Whole blocks of 32 bytes, eight a repeat. */
template <typename T>
void Gatherb(const LocalTensor<T> &dst, const LocalTensor<T> &src0,
             const LocalTensor<uint32_t> &offset, int64_t repeatTimes,
             const GatherRepeatParams &repeatParams, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Gatherb", site);
    constexpr uint64_t in_block = emulation::BlockBytes / sizeof(T);
    const emulation::Walker<T> from(call, "src0", src0);
    const emulation::Walker<T> to(call, "dst", dst, repeatParams.dstBlkStride,
                                  repeatParams.dstRepStride);
    const emulation::Walker<uint32_t> offsets(call, "offset", offset);
    for (uint64_t i = 0; i < uint64_t{emulation::Repeats(call, repeatTimes)} * 8 * in_block; i++) {
        const uint64_t byte = offsets.operand.Load(i / in_block) + i % in_block * sizeof(T);
        to.operand.Store(to.At(i / (8 * in_block), i % (8 * in_block)),
                         emulation::Picked(from.operand, offsets.operand, byte));
    }
}

/* dstOffset: distances in bytes from dst's first element on. */
template <typename T>
void Scatter(const LocalTensor<T> &dst, const LocalTensor<T> &src,
             const LocalTensor<uint32_t> &dstOffset, uint32_t dstBaseAddr, uint32_t count,
             emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Scatter", site);
    const emulation::Walker<T> to(call, "dst", dst), from(call, "src", src);
    const emulation::Walker<uint32_t> offsets(call, "dstOffset", dstOffset);
    for (uint32_t i = 0; i < count; i++) {
        to.operand.Store((uint64_t{dstBaseAddr} + offsets.operand.Load(i)) / sizeof(T),
                         from.operand.Load(i));
    }
}

namespace emulation {

template <typename T, typename F>
void GatherMasked(const Call &call, const LocalTensor<T> &dst, const LocalTensor<T> &src,
                  bool reduceMode, uint32_t mask, const GatherMaskParams &p, uint64_t &kept,
                  F chosen)
{
    const Walker<T> to(call, "dst", dst), from(call, "src0", src, p.src0BlockStride,
                                               p.src0RepeatStride);
    constexpr uint32_t in_repeat = RepeatBytes / sizeof(T);
    kept = 0;
    for (uint64_t repeat = 0; repeat < p.repeatTimes; repeat++) {
        for (uint32_t i = 0; i < (reduceMode ? mask : in_repeat); i++) {
            if (chosen(repeat, i)) {
                to.operand.Store(kept++, from.Load(repeat, i));
            }
        }
    }
}

}  // namespace emulation

/* src1Pattern 1 to 7: 0101, 1010, one of four, all. */
template <typename T>
void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0, uint8_t src1Pattern,
                bool reduceMode, uint32_t mask, const GatherMaskParams &params, uint64_t &rsvdCnt,
                emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("GatherMask", site);
    static constexpr uint8_t patterns[] = {0, 0x5, 0xA, 0x1, 0x2, 0x4, 0x8, 0xF};
    if (src1Pattern < 1 || src1Pattern > 7) {
        call.Fail(emulation::rule::Bounds,
                  emulation::Text("src1Pattern is %d; it must be 1 to 7", src1Pattern));
    }
    emulation::GatherMasked(
        call, dst, src0, reduceMode, mask, params, rsvdCnt,
        [&](uint64_t, uint32_t i) { return (patterns[src1Pattern] >> (i % 4) & 1U) != 0; });
}

/* A bit of src1Pattern for each element; its repeats are blocks of 32 bytes apart. */
template <typename T, typename M>
void GatherMask(const LocalTensor<T> &dst, const LocalTensor<T> &src0,
                const LocalTensor<M> &src1Pattern, bool reduceMode, uint32_t mask,
                const GatherMaskParams &params, uint64_t &rsvdCnt,
                emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("GatherMask", site);
    const emulation::Walker<uint8_t> bits(call, "src1Pattern",
                                          src1Pattern.template ReinterpretCast<uint8_t>());
    emulation::GatherMasked(
        call, dst, src0, reduceMode, mask, params, rsvdCnt, [&](uint64_t repeat, uint32_t i) {
            const uint64_t byte = repeat * params.src1RepeatStride * emulation::BlockBytes + i / 8;
            return (bits.operand.Load(byte) >> (i % 8) & 1U) != 0;
        });
}

}  // namespace AscendC
