/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of the vector unit. It adds in pairs, pairs of pairs and so on, in the type of the elements.
 */
#pragma once

#include "ascendc/elementwise.h"

namespace AscendC {
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

template <typename T>
T RepeatSum(const Walk &walk, uint64_t repeat, const Walker<T> &src)
{
    std::vector<T> values;
    for (const uint32_t timeline : walk.timelines) {
        values.push_back(src.operand.Load(src.At(repeat, timeline)));
    }
    return PairwiseSum(std::move(values));
}

}  // namespace emulation

/* dst[0] = the sum of the first `count` elements; the intermediate sums of repeats go through
 * sharedTmpBuffer, which must hold one for each repeat, in whole blocks. */
template <typename T>
void ReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src,
               const LocalTensor<T> &sharedTmpBuffer, int32_t count,
               emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("ReduceSum", site);
    emulation::RequireType<T, half, float>(call);
    const emulation::Walker<T> from(call, "src", src), to(call, "dst", dst);
    const emulation::Walker<T> work(call, "sharedTmpBuffer", sharedTmpBuffer);
    constexpr uint32_t in_repeat = emulation::RepeatBytes / sizeof(T);
    constexpr uint32_t in_block = emulation::BlockBytes / sizeof(T);
    const emulation::Walk all = emulation::Count(call, count);
    const auto elements = static_cast<uint32_t>(all.timelines.size());
    const uint32_t repeats = (elements + in_repeat - 1) / in_repeat;
    const uint32_t needed = (repeats + in_block - 1) / in_block * in_block;
    if (work.operand.Size() < needed) {
        work.operand.Fail(emulation::rule::Temporary,
                          emulation::Text("it has %u elements; the sum of %u needs %u",
                                          work.operand.Size(), elements, needed));
    }
    std::vector<T> sums;
    for (uint32_t first = 0; first < elements; first += in_repeat) {
        std::vector<T> values;
        for (uint32_t i = first; i < first + in_repeat && i < elements; i++) {
            values.push_back(from.operand.Load(i));
        }
        sums.push_back(emulation::PairwiseSum(std::move(values)));
    }
    work.operand.Consume(needed);
    to.operand.Store(0, emulation::PairwiseSum(std::move(sums)));
}

/* One sum for each repeat; repeats of dst are dstRepStride elements apart. */
template <typename T, typename Mask>
void WholeReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, Mask mask,
                    int32_t repeatTimes, int32_t dstRepStride, int32_t srcBlkStride,
                    int32_t srcRepStride, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("WholeReduceSum", site);
    emulation::RequireType<T, half, float>(call);
    const auto walk =
        emulation::Masked(call, mask, static_cast<uint8_t>(repeatTimes), sizeof(T));
    const emulation::Walker<T> to(call, "dst", dst);
    const emulation::Walker<T> from(call, "src", src, static_cast<uint64_t>(srcBlkStride),
                                    static_cast<uint64_t>(srcRepStride));
    for (uint64_t repeat = 0; repeat < walk.repeats; repeat++) {
        to.operand.Store(repeat * static_cast<uint64_t>(dstRepStride),
                         emulation::RepeatSum(walk, repeat, from));
    }
}

/* One sum for each block of 32 bytes: eight a repeat. */
template <typename T, typename Mask>
void BlockReduceSum(const LocalTensor<T> &dst, const LocalTensor<T> &src, int32_t repeatTimes,
                    Mask mask, int32_t dstRepStride, int32_t srcBlkStride, int32_t srcRepStride,
                    emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("BlockReduceSum", site);
    emulation::RequireType<T, half, float>(call);
    const auto walk =
        emulation::Masked(call, mask, static_cast<uint8_t>(repeatTimes), sizeof(T));
    constexpr uint32_t in_block = emulation::BlockBytes / sizeof(T);
    const emulation::Walker<T> to(call, "dst", dst);
    const emulation::Walker<T> from(call, "src", src, static_cast<uint64_t>(srcBlkStride),
                                    static_cast<uint64_t>(srcRepStride));
    for (uint64_t repeat = 0; repeat < walk.repeats; repeat++) {
        for (uint32_t block = 0; block < 8; block++) {
            emulation::Walk part{{}, 1};
            for (const uint32_t timeline : walk.timelines) {
                if (timeline / in_block == block) {
                    part.timelines.push_back(timeline);
                }
            }
            if (!part.timelines.empty()) {
                to.operand.Store(repeat * static_cast<uint64_t>(dstRepStride) * 8 + block,
                                 emulation::RepeatSum(part, repeat, from));
            }
        }
    }
}

}  // namespace AscendC
