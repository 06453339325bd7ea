/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting: pairs of a score and an index, of 8 bytes whatever the score's type, from the largest
 * score to the smallest; of equal scores, the first one is first.
 */
#pragma once

#include <algorithm>

#include "ascendc/arithmetic.h"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC {

template <typename T> struct MrgSortSrcList {
    MrgSortSrcList() = default;
    MrgSortSrcList(const LocalTensor<T> &src1, const LocalTensor<T> &src2,
                   const LocalTensor<T> &src3, const LocalTensor<T> &src4)
        : src1(src1), src2(src2), src3(src3), src4(src4)
    {
    }

    LocalTensor<T> src1, src2, src3, src4;
};

struct MrgSort4Info {
    MrgSort4Info() = default;
    MrgSort4Info(const uint16_t (&elementLengths)[4], bool ifExhaustedSuspension,
                 uint16_t validBit, uint16_t repeatTimes = 1)
        : ifExhaustedSuspension(ifExhaustedSuspension), validBit(validBit),
          repeatTimes(static_cast<uint8_t>(repeatTimes))
    {
        std::copy_n(elementLengths, 4, this->elementLengths);
    }

    uint16_t elementLengths[4] = {};
    bool ifExhaustedSuspension = false;
    uint16_t validBit = 3;
    uint8_t repeatTimes = 1;
};


struct TopKInfo {
    int32_t outter = 1, inner = 0, n = 0;
};

/* Elements of T that so many pairs take. */
template <typename T> constexpr uint32_t GetSortLen(uint32_t pairs)
{
    return pairs * 8 / static_cast<uint32_t>(sizeof(T));
}
template <typename T> constexpr uint32_t GetSortOffset(uint32_t pairs)
{
    return GetSortLen<T>(pairs);
}

namespace emulation {

template <typename T> struct Pair {
    T score;
    uint32_t index;

    bool Before(const Pair &other) const { return other.score < score; }
};

template <typename T> struct Pairs {
    Walker<T> scores;
    Walker<uint32_t> indices;

    Pairs(const Call &call, const char *name, const LocalTensor<T> &tensor)
        : scores(call, name, tensor),
          indices(call, name, tensor.template ReinterpretCast<uint32_t>())
    {
    }
    Pair<T> Load(uint64_t at) const
    {
        return {scores.operand.Load(at * 8 / sizeof(T)), indices.operand.Load(2 * at + 1)};
    }
    void Store(uint64_t at, const Pair<T> &pair) const
    {
        indices.operand.Store(2 * at, 0); /* half leaves a gap */
        scores.operand.Store(at * 8 / sizeof(T), pair.score);
        indices.operand.Store(2 * at + 1, pair.index);
    }
};

template <typename T> void SortPairs(std::vector<Pair<T>> &pairs)
{
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair<T> &a, const Pair<T> &b) { return a.Before(b); });
}

template <typename T>
void SortEach(const Call &call, const LocalTensor<T> &dst, const LocalTensor<T> &src,
              const LocalTensor<uint32_t> &index, uint32_t count, uint32_t size)
{
    RequireType<T, half, float>(call);
    const Walker<T> from(call, "src0", src);
    const Walker<uint32_t> numbers(call, "src1", index);
    const Pairs<T> to(call, "dst", dst);
    for (uint32_t first = 0; first < count; first += size) {
        std::vector<Pair<T>> pairs;
        for (uint32_t i = first; i < first + size; i++) {
            pairs.push_back({from.operand.Load(i), numbers.operand.Load(i)});
        }
        SortPairs(pairs);
        for (uint32_t i = 0; i < size; i++) {
            to.Store(first + i, pairs[i]);
        }
    }
}

}  // namespace emulation

/* Each 32 elements by themselves. */
template <typename T>
void Sort32(const LocalTensor<T> &dst, const LocalTensor<T> &src0,
            const LocalTensor<uint32_t> &src1, int32_t repeatTimes,
            emulation::Site site = emulation::Site::Here())
{
    emulation::SortEach(emulation::Call("Sort32", site), dst, src0, src1,
                        32 * static_cast<uint32_t>(repeatTimes), 32);
}

template <typename T, bool isFullSort>
void Sort(const LocalTensor<T> &dst, const LocalTensor<T> &concat,
          const LocalTensor<uint32_t> &index, LocalTensor<T> &tmp, int32_t repeatTimes,
          emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Sort", site);
    emulation::Within(call, tmp.template ReinterpretCast<uint8_t>(), 0);
    const uint32_t count = 32 * static_cast<uint32_t>(repeatTimes);
    emulation::SortEach(call, dst, concat, index, count, isFullSort ? count : 32);
}

/* Scores in the form that Sort takes: on chips with pairs of 8 bytes, as they are. */
template <typename T>
void Concat(LocalTensor<T> &concat, const LocalTensor<T> &src, const LocalTensor<T> &, int32_t)
{
    concat = src;
}

/* Scores and indices apart. */
template <typename T>
void Extract(const LocalTensor<T> &dstValue, const LocalTensor<uint32_t> &dstIndex,
             const LocalTensor<T> &sorted, int32_t repeatTimes,
             emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Extract", site);
    const emulation::Pairs<T> from(call, "sorted", sorted);
    const emulation::Walker<T> values(call, "dstValue", dstValue);
    const emulation::Walker<uint32_t> indices(call, "dstIndex", dstIndex);
    for (uint64_t i = 0; i < uint64_t{32} * static_cast<uint32_t>(repeatTimes); i++) {
        const auto pair = from.Load(i);
        values.operand.Store(i, pair.score);
        indices.operand.Store(i, pair.index);
    }
}

/* Up to four sorted lists become one; each repeat takes the lists that follow. */
template <typename T>
void MrgSort(const LocalTensor<T> &dst, const MrgSortSrcList<T> &src, const MrgSort4Info &params,
             emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("MrgSort", site);
    if (params.ifExhaustedSuspension) {
        call.Fail(emulation::rule::Chip,
                  "ifExhaustedSuspension is not simulated: merge lists to their end");
    }
    const emulation::Pairs<T> to(call, "dst", dst);
    const LocalTensor<T> lists[] = {src.src1, src.src2, src.src3, src.src4};
    uint64_t total = 0, at = 0;
    for (int i = 0; i < 4; i++) {
        total += (params.validBit >> i & 1U) != 0 ? params.elementLengths[i] : 0;
    }
    for (uint64_t repeat = 0; repeat < params.repeatTimes; repeat++) {
        std::vector<emulation::Pair<T>> pairs;
        for (int i = 0; i < 4; i++) {
            if ((params.validBit >> i & 1U) != 0) {
                const emulation::Pairs<T> from(call, "src", lists[i]);
                for (uint64_t j = 0; j < params.elementLengths[i]; j++) {
                    pairs.push_back(from.Load(repeat * total + j));
                }
            }
        }
        emulation::SortPairs(pairs);
        for (const auto &pair : pairs) {
            to.Store(at++, pair);
        }
    }
}

template <typename T, bool isExhaustedSuspension = false>
void MrgSort(const LocalTensor<T> &dst, const MrgSortSrcList<T> &sortList,
             const uint16_t (&elementCountList)[4], uint32_t (&sortedNum)[4], uint16_t validBit,
             int32_t repeatTimes, emulation::Site site = emulation::Site::Here())
{
    MrgSort(dst, sortList,
            MrgSort4Info(elementCountList, isExhaustedSuspension, validBit,
                         static_cast<uint16_t>(repeatTimes)),
            site);
    std::copy_n(elementCountList, 4, sortedNum);
}

/* The k largest or smallest of each row, in whole blocks of 32 bytes. */
template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,
          TopKMode topkMode = TopKMode::TOPK_NORMAL>
void TopK(const LocalTensor<T> &dstValue, const LocalTensor<int32_t> &dstIndex,
          const LocalTensor<T> &src, const LocalTensor<int32_t> &srcIndex,
          const LocalTensor<bool> &finish, int32_t k, const TopkTiling &, const TopKInfo &info,
          bool isLargest = true, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("TopK", site);
    emulation::RequireType<T, half, float>(call);
    const emulation::Walker<T> from(call, "src", src), values(call, "dstValue", dstValue);
    const emulation::Walker<int32_t> indices(call, "dstIndex", dstIndex);
    if (k < 1 || k > info.n || info.n > info.inner) {
        call.Fail(emulation::rule::Bounds,
                  emulation::Text("k is %d, n %d, inner %d; they must be 1 or more, in this order",
                                  k, info.n, info.inner));
    }
    const auto many = static_cast<uint64_t>(k);
    const auto padded = [many](uint64_t size) { return (many * size + 31) / 32 * 32 / size; };
    for (int32_t row = 0; row < info.outter; row++) {
        if (isHasfinish && finish.GetValue(static_cast<uint32_t>(row))) {
            continue;
        }
        std::vector<emulation::Pair<T>> pairs;
        for (int32_t i = 0; i < info.n; i++) {
            const auto at = static_cast<uint32_t>(i);
            const T value = from.operand.Load(static_cast<uint64_t>(row * info.inner + i));
            pairs.push_back({isLargest ? value : static_cast<T>(-value),
                             isInitIndex ? static_cast<uint32_t>(srcIndex.GetValue(at)) : at});
        }
        emulation::SortPairs(pairs);
        /* Padding of the blocks has no meaning, but can be copied. */
        pairs.resize(std::max(pairs.size(), padded(2)), {T(0.0F), 0});
        const auto line = static_cast<uint64_t>(row);
        for (uint64_t i = 0; i < padded(sizeof(T)); i++) {
            values.operand.Store(line * padded(sizeof(T)) + i,
                                 isLargest ? pairs[i].score : static_cast<T>(-pairs[i].score));
        }
        for (uint64_t i = 0; i < padded(sizeof(int32_t)); i++) {
            indices.operand.Store(line * padded(sizeof(int32_t)) + i,
                                  static_cast<int32_t>(pairs[i].index));
        }
    }
}

template <typename T, bool isInitIndex = false, bool isHasfinish = false, bool isReuseSrc = false,
          TopKMode topkMode = TopKMode::TOPK_NORMAL>
void TopK(const LocalTensor<T> &dstValue, const LocalTensor<int32_t> &dstIndex,
          const LocalTensor<T> &src, const LocalTensor<int32_t> &srcIndex,
          const LocalTensor<bool> &finish, const LocalTensor<uint8_t> &tmp, int32_t k,
          const TopkTiling &tiling, const TopKInfo &info, bool isLargest = true,
          emulation::Site site = emulation::Site::Here())
{
    emulation::Within(emulation::Call("TopK", site), tmp, 0);
    TopK<T, isInitIndex, isHasfinish, isReuseSrc, topkMode>(
        dstValue, dstIndex, src, srcIndex, finish, k, tiling, info, isLargest, site);
}

}  // namespace AscendC
