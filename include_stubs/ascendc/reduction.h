/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums, maxima and minima of the vector unit: of all elements, of repeats, of blocks, of pairs. It
 * adds in pairs, pairs of pairs and so on, in the type of the elements.
 */
#pragma once

#include <map>

#include "ascendc/elementwise.h"

namespace AscendC {

enum class ReduceOrder : uint8_t {
    ORDER_VALUE_INDEX = 0,
    ORDER_INDEX_VALUE,
    ORDER_ONLY_VALUE,
    ORDER_ONLY_INDEX
};

/* Rows of `inner` elements, of which the first `n` count. */
struct SumParams {
    uint32_t outter = 1, inner = 0, n = 0;
};
using MeanParams = SumParams;

namespace emulation {

template <typename T> T PairwiseSum(std::vector<T> values)
{
    if (values.empty()) {
        return T(0.0F);
    }
    while (values.size() > 1) {
        const size_t pairs = values.size() / 2, odd = values.size() % 2;
        for (size_t i = 0; i < pairs; i++) {
            values[i] = static_cast<T>(values[2 * i] + values[2 * i + 1]);
        }
        if (odd != 0) {
            values[pairs] = values.back();
        }
        values.resize(pairs + odd);
    }
    return values.front();
}

template <typename T> struct Reduced {
    T value;
    uint32_t index;
};

/* Each reduces values to one, and says where that is. */
struct SumOfAll {
    template <typename T> static Reduced<T> Of(const std::vector<T> &values)
    {
        return {PairwiseSum(values), 0};
    }
};
struct ProdOfAll {
    template <typename T> static Reduced<T> Of(const std::vector<T> &values)
    {
        float product = 1;
        for (const T value : values) {
            product *= static_cast<float>(value);
        }
        return {static_cast<T>(product), 0};
    }
};
template <bool largest> struct ExtremeOfAll {
    template <typename T> static Reduced<T> Of(const std::vector<T> &values)
    {
        size_t best = 0;
        for (size_t i = 1; i < values.size(); i++) {
            if (largest ? values[best] < values[i] : values[i] < values[best]) {
                best = i;
            }
        }
        return {values[best], static_cast<uint32_t>(best)};
    }
};
using MaxOfAll = ExtremeOfAll<true>;
using MinOfAll = ExtremeOfAll<false>;

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

/* Calls f(group, reduced): elements of a repeat, in groups of `size` next to another. */
template <typename Of, typename T, typename F>
void Groups(const Walk &walk, const Walker<T> &src, uint64_t size, F f)
{
    std::map<uint64_t, std::pair<std::vector<T>, std::vector<uint64_t>>> groups;
    walk.Each([&](uint64_t repeat, uint64_t timeline) {
        const uint64_t in_repeat = (RepeatBytes / sizeof(T)) / size;
        auto &[values, timelines] = groups[repeat * in_repeat + timeline / size];
        values.push_back(src.Load(repeat, timeline));
        timelines.push_back(timeline);
    });
    for (const auto &[group, members] : groups) {
        const Reduced<T> result = Of::Of(members.first);
        f(group, Reduced<T>{result.value, static_cast<uint32_t>(members.second[result.index])});
    }
}

/* One result of everything; repeats first, in work, which must hold one for each. */
template <typename Of, typename T>
void ReduceAll(const Call &call, const Walk &walk, const LocalTensor<T> &dst, const Walker<T> &src,
               const LocalTensor<T> &sharedTmpBuffer, bool index)
{
    RequireType<T, half, float>(call);
    const Walker<T> work(call, "sharedTmpBuffer", sharedTmpBuffer), to(call, "dst", dst);
    constexpr uint32_t in_repeat = RepeatBytes / sizeof(T), in_block = BlockBytes / sizeof(T);
    std::vector<T> all, part, parts;
    std::vector<uint64_t> places;
    walk.Each([&](uint64_t repeat, uint64_t timeline) {
        places.push_back(repeat * walk.width + timeline);
        all.push_back(src.Load(repeat, timeline));
    });
    if (all.empty()) {
        call.Fail(rule::Bounds, "the count is 0; it must be positive");
    }
    for (size_t first = 0; first < all.size(); first += in_repeat) {
        part.assign(all.begin() + static_cast<ptrdiff_t>(first),
                    all.begin() + static_cast<ptrdiff_t>(std::min(first + in_repeat, all.size())));
        parts.push_back(Of::Of(part).value);
    }
    /* A sum takes an element of each repeat, an extreme a pair; its index further rounds of it. */
    const bool sum = std::is_same_v<Of, SumOfAll>;
    const auto repeats = static_cast<uint32_t>(parts.size());
    const auto next = [](uint32_t pairs) { return 2 * DivCeil(pairs, in_repeat); };
    uint32_t needed = AlignUp(sum ? repeats : 2 * repeats, in_block);
    if (index) {
        needed += AlignUp(next(2 * repeats), in_block) + AlignUp(next(next(2 * repeats)), in_block);
    }
    if (work.operand.Size() < needed) {
        work.operand.Fail(rule::Temporary,
                          Text("it has %u elements; the %s of %zu needs %u", work.operand.Size(),
                               sum ? "sum" : index ? "extreme with its index" : "extreme",
                               all.size(), needed));
    }
    work.operand.Consume(needed);
    to.operand.Store(0, Of::Of(parts).value);
    if (index) {
        to.operand.Store(1, IndexAs<T>(static_cast<uint32_t>(places[Of::Of(all).index])));
    }
}

/* One result of each row, or of each column; rows may be filled up to whole blocks. */
template <typename Of, typename T>
void ReduceAxis(const Call &call, const LocalTensor<T> &dst, const LocalTensor<T> &src,
                const uint32_t *shape, bool padded, bool rows)
{
    RequireType<T, half, float>(call);
    const Walker<T> from(call, "src", src), to(call, "dst", dst);
    const uint64_t step = padded ? AlignUp(uint64_t{shape[1]}, BlockBytes / sizeof(T)) : shape[1];
    for (uint64_t i = 0; i < shape[rows ? 0 : 1]; i++) {
        std::vector<T> values;
        for (uint64_t j = 0; j < shape[rows ? 1 : 0]; j++) {
            values.push_back(from.operand.Load(rows ? i * step + j : j * step + i));
        }
        to.operand.Store(i, Of::Of(values).value);
    }
}

/* One result of each row. */
template <typename T>
void ReduceRows(const Call &call, const LocalTensor<T> &dst, const LocalTensor<T> &src,
                const SumParams &p, float scale)
{
    const Walker<T> from(call, "src", src), to(call, "dst", dst);
    for (uint32_t row = 0; row < p.outter; row++) {
        std::vector<float> values;
        for (uint32_t i = 0; i < p.n; i++) {
            values.push_back(static_cast<float>(from.operand.Load(uint64_t{row} * p.inner + i)));
        }
        to.operand.Store(row, static_cast<T>(PairwiseSum(values) * scale));
    }
}

}  // namespace emulation

/* Axes that stay (A) and that are reduced (R). */
namespace Pattern {
namespace Reduce {
struct AR {
    static constexpr bool rows = true;
};
struct RA {
    static constexpr bool rows = false;
};
}  // namespace Reduce
}  // namespace Pattern

/* Of all elements of a count, or of repeats; where the extreme is first follows it if asked for. */
#define ASCENDC_REDUCE(What)                                                                       \
    template <typename T, auto... flags>                                                           \
    void Reduce##What(const LocalTensor<T> &dst, const LocalTensor<T> &src,                        \
                      const LocalTensor<T> &sharedTmpBuffer, int32_t count, bool calIndex = false, \
                      emulation::Site site = emulation::Site::Here())                              \
    {                                                                                              \
        const emulation::Call call("Reduce" #What, site);                                          \
        emulation::ReduceAll<emulation::What##OfAll>(call, emulation::Count(call, count), dst,     \
                                                     emulation::Walker<T>(call, "src", src),       \
                                                     sharedTmpBuffer, calIndex);                   \
    }                                                                                              \
    template <typename T, auto... flags, typename Mask>                                            \
    void Reduce##What(const LocalTensor<T> &dst, const LocalTensor<T> &src,                        \
                      const LocalTensor<T> &sharedTmpBuffer, Mask mask, int32_t repeatTimes,       \
                      int32_t srcRepStride, bool calIndex = false,                                 \
                      emulation::Site site = emulation::Site::Here())                              \
    {                                                                                              \
        const emulation::Call call("Reduce" #What, site);                                          \
        emulation::ReduceAll<emulation::What##OfAll>(                                              \
            call, emulation::Masked(call, mask, static_cast<uint32_t>(repeatTimes), sizeof(T)),    \
            dst,                                                                                   \
            emulation::Walker<T>(call, "src", src, 1, static_cast<uint64_t>(srcRepStride)),        \
            sharedTmpBuffer, calIndex);                                                            \
    }                                                                                              \
    template <typename T, auto... flags, typename Mask>                                            \
    void WholeReduce##What(const LocalTensor<T> &dst, const LocalTensor<T> &src, Mask mask,        \
                           int32_t repeatTimes, int32_t dstRepStride, int32_t srcBlkStride,        \
                           int32_t srcRepStride,                                                   \
                           ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX,                     \
                           emulation::Site site = emulation::Site::Here())                         \
    {                                                                                              \
        const bool sum = std::is_same_v<emulation::What##OfAll, emulation::SumOfAll>;              \
        emulation::ReduceGroups<emulation::What##OfAll>(                                           \
            emulation::Call("WholeReduce" #What, site), dst, src, mask, repeatTimes, dstRepStride, \
            srcBlkStride, srcRepStride, emulation::RepeatBytes / sizeof(T),                        \
            sum ? ReduceOrder::ORDER_ONLY_VALUE : order);                                          \
    }                                                                                              \
    ASCENDC_REDUCE_AXIS(What)                                                                      \
    ASCENDC_REDUCE_PARTS(Block, What, emulation::BlockBytes / sizeof(T))

/* Of each row or column. */
#define ASCENDC_REDUCE_AXIS(What)                                                                  \
    template <typename T, typename Axes, bool isReuseSource = false>                               \
    void Reduce##What(const LocalTensor<T> &dst, const LocalTensor<T> &src,                        \
                      const LocalTensor<uint8_t> &sharedTmpBuffer, const uint32_t srcShape[],      \
                      bool srcInnerPad, emulation::Site site = emulation::Site::Here())            \
    {                                                                                              \
        const emulation::Call call("Reduce" #What, site);                                          \
        emulation::Operand<uint8_t>(call, "sharedTmpBuffer", sharedTmpBuffer).InVectorMemory();    \
        emulation::ReduceAxis<emulation::What##OfAll>(call, dst, src, srcShape, srcInnerPad,       \
                                                      Axes::rows);                                 \
    }

#define ASCENDC_REDUCE_PARTS(Part, What, size)                                                     \
    template <typename T, auto... flags, typename Mask>                                            \
    void Part##Reduce##What(const LocalTensor<T> &dst, const LocalTensor<T> &src,                  \
                            int32_t repeatTimes, Mask mask, int32_t dstRepStride,                  \
                            int32_t srcBlkStride, int32_t srcRepStride,                            \
                            emulation::Site site = emulation::Site::Here())                        \
    {                                                                                              \
        emulation::ReduceGroups<emulation::What##OfAll>(                                           \
            emulation::Call(#Part "Reduce" #What, site), dst, src, mask, repeatTimes,              \
            dstRepStride, srcBlkStride, srcRepStride, size, ReduceOrder::ORDER_ONLY_VALUE);        \
    }

namespace emulation {

/* One result of each group of a repeat; dst advances by dstRepStride results of a repeat. */
template <typename Of, typename T, typename Mask>
void ReduceGroups(const Call &call, const LocalTensor<T> &dst, const LocalTensor<T> &src, Mask mask,
                  int32_t repeats, int32_t dstRepStride, int32_t srcBlkStride,
                  int32_t srcRepStride, uint64_t size, ReduceOrder order)
{
    RequireType<T, half, float>(call);
    const Walk walk = Masked(call, mask, Repeats(call, repeats), sizeof(T));
    const Walker<T> from(call, "src", src, static_cast<uint64_t>(srcBlkStride),
                         static_cast<uint64_t>(srcRepStride));
    Operand<T> to(call, "dst", dst);
    to.InVectorMemory();
    const uint64_t in_repeat = (RepeatBytes / sizeof(T)) / size;
    Groups<Of>(walk, from, size, [&](uint64_t group, const Reduced<T> &result) {
        const uint64_t at = group / in_repeat * static_cast<uint64_t>(dstRepStride) * in_repeat +
                            group % in_repeat;
        const T index = IndexAs<T>(result.index);
        if (order == ReduceOrder::ORDER_ONLY_VALUE) {
            to.Store(at, result.value);
        } else if (order == ReduceOrder::ORDER_ONLY_INDEX) { /* of 32 bits in any type */
            Operand<uint32_t>(call, "dst", dst.template ReinterpretCast<uint32_t>())
                .Store(at, result.index);
        } else {
            const bool value_first = order == ReduceOrder::ORDER_VALUE_INDEX;
            to.Store(2 * at, value_first ? result.value : index);
            to.Store(2 * at + 1, value_first ? index : result.value);
        }
    });
}

}  // namespace emulation

ASCENDC_REDUCE(Sum)
ASCENDC_REDUCE(Max)
ASCENDC_REDUCE(Min)
ASCENDC_REDUCE_PARTS(Pair, Sum, 2)
ASCENDC_REDUCE_AXIS(Prod)

#undef ASCENDC_REDUCE
#undef ASCENDC_REDUCE_AXIS
#undef ASCENDC_REDUCE_PARTS

/* The library's sum and mean of rows, with temporary memory or none. */
#define ASCENDC_REDUCE_ROWS(Name, scale)                                                           \
    template <typename T, auto... flags>                                                           \
    void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const SumParams &params,       \
              emulation::Site site = emulation::Site::Here())                                      \
    {                                                                                              \
        emulation::ReduceRows(emulation::Call(#Name, site), dst, src, params, scale);              \
    }                                                                                              \
    template <typename T, auto... flags>                                                           \
    void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src,                                \
              const LocalTensor<uint8_t> &sharedTmpBuffer, const SumParams &params,                \
              emulation::Site site = emulation::Site::Here())                                      \
    {                                                                                              \
        const emulation::Call call(#Name, site);                                                   \
        emulation::Operand<uint8_t>(call, "sharedTmpBuffer", sharedTmpBuffer).InVectorMemory();    \
        emulation::ReduceRows(call, dst, src, params, scale);                                      \
    }
ASCENDC_REDUCE_ROWS(Sum, 1.0F)
ASCENDC_REDUCE_ROWS(Mean, 1.0F / static_cast<float>(params.n))
#undef ASCENDC_REDUCE_ROWS

/* An older form of WholeReduceSum. */
template <typename T, bool isSetMask = true>
void RepeatReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t repeatTimes,
                     int32_t elemsInOneRepeat, int32_t /*dstBlkStride*/, int32_t srcBlkStride,
                     int32_t dstRepStride, int32_t srcRepStride,
                     emulation::Site site = emulation::Site::Here())
{
    WholeReduceSum<T, isSetMask>(dst, src, elemsInOneRepeat, repeatTimes, dstRepStride,
                                 srcBlkStride, srcRepStride, ReduceOrder::ORDER_VALUE_INDEX, site);
}

}  // namespace AscendC
