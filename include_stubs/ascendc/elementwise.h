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
struct UnaryRepeatParams {
    uint16_t dstBlkStride = 1, srcBlkStride = 1;
    uint8_t dstRepStride = 8, srcRepStride = 8;
};

struct BinaryRepeatParams {
    uint8_t dstBlkStride = 1, src0BlkStride = 1, src1BlkStride = 1;
    uint8_t dstRepStride = 8, src0RepStride = 8, src1RepStride = 8;
};

namespace emulation {

/* Which elements of a repeat take part, and how many repeats there are. */
struct Walk {
    std::vector<uint32_t> timelines;
    uint32_t repeats;
};

/* The first `count` elements, as one long repeat. */
inline Walk Count(const Call &call, int64_t count)
{
    if (count < 0) {
        call.Fail(rule::Bounds, Text("the count is %lld; it must not be negative",
                                     static_cast<long long>(count)));
    }
    Walk walk{std::vector<uint32_t>(static_cast<size_t>(count)), 1};
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
inline Walk Masked(const Call &call, uint64_t mask, uint8_t repeats, size_t size)
{
    RequireMask(call, mask, RepeatBytes / size);
    Walk walk = Count(call, static_cast<int64_t>(mask));
    walk.repeats = repeats;
    return walk;
}

/* Bit i of the two words selects element i of every repeat. */
inline Walk Masked(const Call &call, const uint64_t *mask, uint8_t repeats, size_t size)
{
    Walk walk{{}, repeats};
    for (uint32_t timeline = 0; timeline < RepeatBytes / size; timeline++) {
        if ((mask[timeline / 64] >> (timeline % 64) & 1U) != 0) {
            walk.timelines.push_back(timeline);
        }
    }
    RequireMask(call, walk.timelines.size(), RepeatBytes / size);
    return walk;
}

/* An operand on the walk. */
template <typename T> struct Walker {
    Operand<T> operand;
    uint64_t block_stride, repeat_stride;

    Walker(const Call &call, const char *name, const LocalTensor<T> &tensor,
           uint64_t block_stride = 1, uint64_t repeat_stride = 0)
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
};

/* dst = f(sources...) over the walk. A repeat is read as a whole before it is written. */
template <typename F, typename D, typename... S>
void Apply(const Walk &walk, F f, const Walker<D> &dst, const Walker<S> &...sources)
{
    std::vector<D> results(walk.timelines.size());
    for (uint64_t repeat = 0; repeat < walk.repeats; repeat++) {
        for (size_t i = 0; i < results.size(); i++) {
            const std::tuple<S...> values{
                sources.operand.Load(sources.At(repeat, walk.timelines[i]))...}; /* in this order */
            results[i] = std::apply(f, values);
        }
        for (size_t i = 0; i < results.size(); i++) {
            dst.operand.Store(dst.At(repeat, walk.timelines[i]), results[i]);
        }
    }
}

template <typename T, typename... Allowed> void RequireType(const Call &call)
{
    if constexpr (!(std::is_same_v<T, Allowed> || ...)) {
        std::string names;
        ((names += names.empty() ? TypeName<Allowed>() : std::string(", ") + TypeName<Allowed>()),
         ...);
        call.Fail(rule::Dtype, Text("it does not compute in %s; it must be one of %s",
                                    TypeName<T>(), names.c_str()));
    }
}

}  // namespace emulation
}  // namespace AscendC
