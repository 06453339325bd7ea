/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk of the vector unit over its operands: repeats of up to 256 bytes, each made of blocks of
 * 32 bytes, with a distance between blocks and one between repeats for every operand.
 */
#pragma once

#include <tuple>
#include <vector>

#include "ascendc/operand.h"

namespace AscendC {

/* Distances in blocks of 32 bytes. */
struct UnaryRepeatFields {
    uint16_t dstBlkStride = 1, srcBlkStride = 1;
    uint8_t dstRepStride = 8, srcRepStride = 8;
};
using UnaryRepeatParams =
    emulation::Params<UnaryRepeatFields, uint16_t, uint16_t, uint8_t, uint8_t>;

struct BinaryRepeatFields {
    uint8_t dstBlkStride = 1, src0BlkStride = 1, src1BlkStride = 1;
    uint8_t dstRepStride = 8, src0RepStride = 8, src1RepStride = 8;
};
using BinaryRepeatParams =
    emulation::Params<BinaryRepeatFields, uint8_t, uint8_t, uint8_t, uint8_t, uint8_t, uint8_t>;

/* Takes the place of a mask where the mask is that of SetVectorMask. */
constexpr uint64_t MASK_PLACEHOLDER = 0;
constexpr uint64_t MASK_PLACEHOLDER_LIST[2] = {0, 0};

enum class MaskMode : uint8_t { NORMAL = 0, COUNTER };

inline void SetMaskCount() { emulation::Core::Current().mask.counts = true; }
inline void SetMaskNorm() { emulation::Core::Current().mask.counts = false; }

template <typename T, MaskMode mode = MaskMode::NORMAL>
void SetVectorMask(uint64_t high, uint64_t low)
{
    emulation::Core::Current().mask.words[0] = low;
    emulation::Core::Current().mask.words[1] = high;
}

template <typename T, MaskMode mode = MaskMode::NORMAL> void SetVectorMask(int32_t elements)
{
    const auto many = static_cast<uint64_t>(elements);
    const bool bits = mode == MaskMode::NORMAL;
    const auto first = [](uint64_t n) { return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1; };
    SetVectorMask<T>(bits && many > 64 ? first(many - 64) : 0, bits ? first(many) : many);
}

inline void ResetMask() { SetVectorMask<uint8_t>(~uint64_t{0}, ~uint64_t{0}); }

namespace emulation {

/* Which elements of a repeat take part, and how many repeats there are. */
struct Walk {
    std::vector<uint32_t> timelines;
    uint32_t repeats;
    uint32_t width = 0;           /* elements of a repeat */
    uint64_t limit = ~uint64_t{0}; /* elements of all repeats */

    /* Calls f(repeat, timeline). */
    template <typename F> void Each(F f) const
    {
        for (uint64_t repeat = 0; repeat < repeats; repeat++) {
            for (const uint32_t timeline : timelines) {
                if (repeat * width + timeline < limit) {
                    f(repeat, timeline);
                }
            }
        }
    }
};

/* The first `count` elements, as one long repeat. */
inline Walk Count(const Call &call, int64_t count)
{
    if (count < 0) {
        call.Fail(rule::Bounds, Text("the count is %lld; it must not be negative",
                                     static_cast<long long>(count)));
    }
    Walk walk{std::vector<uint32_t>(static_cast<size_t>(count)), 1, static_cast<uint32_t>(count)};
    for (uint32_t timeline = 0; timeline < walk.timelines.size(); timeline++) {
        walk.timelines[timeline] = timeline;
    }
    return walk;
}

inline void RequireMask(const Call &call, uint64_t mask, uint64_t most)
{
    if (mask == 0 || mask > most) {
        call.Fail(rule::Bounds,
                  Text("the mask is %llu; it must be 1 to %llu, the elements of one repeat",
                       static_cast<unsigned long long>(mask),
                       static_cast<unsigned long long>(most)));
    }
}

/* The first `mask` elements of every repeat; `size` is the widest element's. */
inline Walk Masked(const Call &call, uint64_t mask, uint32_t repeats, size_t size)
{
    const auto width = static_cast<uint32_t>(RepeatBytes / size);
    if (Core::Current().mask.counts) { /* the mask is the number of elements of all repeats */
        Walk walk = Count(call, width);
        walk.repeats = static_cast<uint32_t>((mask + width - 1) / width);
        walk.limit = mask;
        return walk;
    }
    RequireMask(call, mask, width);
    Walk walk = Count(call, static_cast<int64_t>(mask));
    walk.repeats = repeats;
    walk.width = width;
    return walk;
}

/* Bit i of the two words selects element i of every repeat. */
inline Walk Masked(const Call &call, const uint64_t *mask, uint32_t repeats, size_t size)
{
    if (Core::Current().mask.counts) {
        return Masked(call, mask[0], repeats, size);
    }
    Walk walk{{}, repeats, static_cast<uint32_t>(RepeatBytes / size)};
    for (uint32_t timeline = 0; timeline < walk.width && timeline < 128; timeline++) {
        if ((mask[timeline / 64] >> (timeline % 64) & 1U) != 0) {
            walk.timelines.push_back(timeline);
        }
    }
    RequireMask(call, walk.timelines.size(), walk.width);
    return walk;
}

/* A number of repeats, of which an instruction has a byte. */
inline uint32_t Repeats(const Call &call, int64_t repeats)
{
    if (repeats < 0 || repeats > 255) {
        call.Fail(rule::Bounds,
                  Text("repeatTimes is %lld; it must be 0 to 255: on the chip it has one byte, and "
                       "%lld is left of it",
                       static_cast<long long>(repeats), static_cast<long long>(repeats & 255)));
    }
    return static_cast<uint32_t>(repeats);
}

/* isSetMask, the first of the template arguments that a call may have behind its types. */
template <auto... flags> constexpr bool SetsMask()
{
    bool sets = true, first = true;
    ((sets = first ? static_cast<bool>(flags) : sets, first = false), ...);
    return sets;
}

template <bool sets, typename Mask>
Walk MaskedBy(const Call &call, Mask mask, int64_t repeats, size_t size)
{
    const uint32_t times = Repeats(call, repeats);
    if constexpr (sets) {
        return Masked(call, mask, times, size);
    } else {
        return Masked(call, static_cast<const uint64_t *>(Core::Current().mask.words), times,
                      size);
    }
}

/* An operand on the walk. */
template <typename T> struct Walker {
    Operand<T> operand;
    uint64_t block_stride, repeat_stride;

    Walker(const Call &call, const char *name, const LocalTensor<T> &tensor,
           uint64_t block_stride = 1, uint64_t repeat_stride = 8)
        : operand(call, name, tensor), block_stride(block_stride), repeat_stride(repeat_stride)
    {
        operand.InVectorMemory().Aligned();
    }

    uint64_t At(uint64_t repeat, uint64_t timeline) const
    {
        constexpr uint64_t in_block = BlockBytes / sizeof(T);
        return (repeat * repeat_stride + timeline / in_block * block_stride) * in_block +
               timeline % in_block;
    }

    T Load(uint64_t repeat, uint64_t timeline) const { return operand.Load(At(repeat, timeline)); }
};

/* dst = f(sources...) over the walk. A repeat is read as a whole before it is written. */
template <typename F, typename D, typename... S>
void Apply(const Walk &walk, F f, const Walker<D> &dst, const Walker<S> &...sources)
{
    std::vector<std::pair<uint64_t, D>> results;
    const auto store = [&] {
        for (const auto &[at, result] : results) {
            dst.operand.Store(at, result);
        }
        results.clear();
    };
    uint64_t last = 0;
    walk.Each([&](uint64_t repeat, uint64_t timeline) {
        if (repeat != last) {
            store();
            last = repeat;
        }
        const std::tuple<S...> values{sources.Load(repeat, timeline)...}; /* in this order */
        results.emplace_back(dst.At(repeat, timeline), std::apply(f, values));
    });
    store();
}

/* An element as it is: what fills blocks and fractals up need not have been written. */
template <typename T>
void Move(const Operand<T> &dst, uint64_t to, const Operand<T> &src, uint64_t from)
{
    if (src.Written(from)) {
        dst.Store(to, src.Load(from));
    }
}

template <typename T, typename... Allowed> constexpr bool OneOf()
{
    return (std::is_same_v<T, Allowed> || ...);
}

template <typename T, typename... Allowed> void RequireType(const Call &call)
{
    if constexpr (!OneOf<T, Allowed...>()) {
        std::string names;
        ((names += names.empty() ? TypeName<Allowed>() : std::string(", ") + TypeName<Allowed>()),
         ...);
        call.Fail(rule::Dtype, Text("it does not compute in %s; it must be one of %s",
                                    TypeName<T>(), names.c_str()));
    }
}

/* Keeps a scalar out of template argument deduction: the tensors determine the type. */
template <typename T> struct Same {
    using Type = T;
};
template <typename T> using Scalar = typename Same<T>::Type;

}  // namespace emulation
}  // namespace AscendC
