/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's functions of rows: SoftMax and its like, RmsNorm. Sums and maxima of a row fill a
 * block of 32 bytes each.
 */
#pragma once

#include "ascendc/arithmetic.h"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC {

/* Rows and their length in memory, and what of them counts. */
struct SoftMaxShapeInfo {
    uint32_t srcM = 0, srcK = 0, oriSrcM = 0, oriSrcK = 0;
};

struct CumSumConfig {
    bool isLastAxis = true, isReuseSource = false, outputLastRow = false;
};
inline constexpr CumSumConfig defaultCumSumConfig{};

struct CumSumInfo {
    uint32_t outter = 0, inner = 0;
};

struct DropOutShapeInfo {
    uint32_t firstAxis = 1, srcLastAxis = 0, maskLastAxis = 0;
};

namespace emulation {

/* x - maximum of a row, the sum of its exponentials, and the maximum. */
struct Exponentials {
    std::vector<double> values;
    double sum = 0, maximum = 0;

    template <typename T>
    Exponentials(const Walker<T> &src, uint64_t first, uint32_t length)
    {
        for (uint32_t i = 0; i < length; i++) {
            values.push_back(static_cast<double>(src.operand.Load(first + i)));
        }
        maximum = *std::max_element(values.begin(), values.end());
        for (double &value : values) {
            sum += std::exp(value -= maximum);
        }
    }
};

/* Calls store(place, x - maximum, row), and puts sums and maxima where they are asked for. */
template <typename T, typename U, typename F>
void SoftMaxRows(const Call &call, const LocalTensor<U> *sum, const LocalTensor<U> *max,
                 const LocalTensor<T> &src, const SoftMaxShapeInfo &shape, F store)
{
    RequireType<T, half, float>(call);
    const Walker<T> from(call, "src", src);
    if (shape.srcK == 0 || shape.oriSrcK == 0 || shape.oriSrcK > shape.srcK) {
        call.Fail(rule::Bounds, Text("srcK is %u and oriSrcK %u; they must be positive, and "
                                     "oriSrcK no more than srcK",
                                     shape.srcK, shape.oriSrcK));
    }
    for (uint64_t row = 0; row < shape.srcM; row++) {
        const Exponentials all(from, row * shape.srcK, shape.oriSrcK);
        for (uint64_t i = 0; i < shape.srcK; i++) {
            store(row * shape.srcK + i, i < all.values.size() ? all.values[i] : -INFINITY, all);
        }
        constexpr uint64_t width = BlockBytes / sizeof(U);
        for (uint64_t i = row * width; sum != nullptr && i < (row + 1) * width; i++) {
            Walker<U>(call, "sum", *sum).operand.Store(i, NarrowTo<U>(all.sum));
            Walker<U>(call, "max", *max).operand.Store(i, NarrowTo<U>(all.maximum));
        }
    }
}

template <typename T>
void RmsNormRows(const Call &call, const LocalTensor<T> &dst, const LocalTensor<T> &src,
                 const LocalTensor<T> &gamma, T epsilon, const RmsNormTiling &tiling)
{
    RequireType<T, half, float>(call);
    const Walker<T> to(call, "dst", dst), from(call, "src", src), scale(call, "gamma", gamma);
    const uint64_t length = tiling.hLength;
    if (length == 0 || tiling.originalHLength == 0 || tiling.originalHLength > length) {
        call.Fail(rule::Tiling, "tiling",
                  Text("hLength is %u and originalHLength %u; they must be positive, and the "
                       "second no more than the first",
                       tiling.hLength, tiling.originalHLength));
    }
    for (uint64_t row = 0; row < uint64_t{tiling.bLength} * tiling.sLength; row++) {
        double squares = 0;
        for (uint64_t i = 0; i < tiling.originalHLength; i++) {
            const auto value = static_cast<double>(from.operand.Load(row * length + i));
            squares += value * value;
        }
        const double mean = squares / tiling.originalHLength + static_cast<double>(epsilon);
        for (uint64_t i = 0; i < length; i++) {
            to.operand.Store(row * length + i,
                             NarrowTo<T>(static_cast<double>(from.operand.Load(row * length + i)) /
                                         std::sqrt(mean) *
                                         static_cast<double>(scale.operand.Load(i))));
        }
    }
}

}  // namespace emulation

/* With temporary memory or none. */
#define ASCENDC_ROWS(Name, more, tensors, rest, ...)                                               \
    template <typename T, auto... flags ASCENDC_LIST more>                                         \
    void Name(ASCENDC_LIST tensors, ASCENDC_LIST rest,                                             \
              emulation::Site site = emulation::Site::Here())                                      \
    {                                                                                              \
        const emulation::Call call(#Name, site);                                                   \
        __VA_ARGS__;                                                                               \
    }                                                                                              \
    template <typename T, auto... flags ASCENDC_LIST more>                                         \
    void Name(ASCENDC_LIST tensors, const LocalTensor<uint8_t> &sharedTmpBuffer,                   \
              ASCENDC_LIST rest, emulation::Site site = emulation::Site::Here())                   \
    {                                                                                              \
        const emulation::Call call(#Name, site);                                                   \
        emulation::Within(call, sharedTmpBuffer, 0);                                               \
        __VA_ARGS__;                                                                               \
    }

#define ASCENDC_SOFTMAX(Name, Tiling, ...)                                                         \
    ASCENDC_ROWS(                                                                                  \
        Name, (, typename U),                                                                      \
        (const LocalTensor<T> &dst, const LocalTensor<U> &sum,                                     \
         const LocalTensor<U> &max, const LocalTensor<T> &src),                                    \
        (const Tiling &, const SoftMaxShapeInfo &shape = {}),                                      \
        const emulation::Walker<T> to(call, "dst", dst);                                           \
        emulation::SoftMaxRows(call, &sum, &max, src, shape,                                       \
                               [&to](uint64_t at, double x, const emulation::Exponentials &row) {  \
                                   to.operand.Store(at, emulation::NarrowTo<T>(__VA_ARGS__));      \
                               }))

ASCENDC_SOFTMAX(SoftMax, SoftMaxTiling, std::exp(x) / row.sum)
ASCENDC_SOFTMAX(LogSoftMax, LogSoftMaxTiling, x - std::log(row.sum))
ASCENDC_ROWS(SoftMax, (), (const LocalTensor<T> &dst, const LocalTensor<T> &src),
             (const SoftMaxTiling &, const SoftMaxShapeInfo &shape = {}),
             const emulation::Walker<T> to(call, "dst", dst);
             const LocalTensor<T> *none = nullptr;
             emulation::SoftMaxRows(
                 call, none, none, src, shape,
                 [&to](uint64_t at, double x, const emulation::Exponentials &row) {
                     to.operand.Store(at, emulation::NarrowTo<T>(std::exp(x) / row.sum));
                 }))
ASCENDC_ROWS(RmsNorm, (),
             (const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &gamma),
             (emulation::Scalar<T> epsilon, const RmsNormTiling &tiling),
             emulation::RmsNormRows(call, dst, src, gamma, epsilon, tiling))

#undef ASCENDC_ROWS
#undef ASCENDC_SOFTMAX

/* Sums along the last axis or the first one; lastRow gets the last row of them if asked for. */
template <typename T, const CumSumConfig &config = defaultCumSumConfig>
void CumSum(const LocalTensor<T> &dst, const LocalTensor<T> &lastRow, const LocalTensor<T> &src,
            const CumSumInfo &info, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("CumSum", site);
    emulation::RequireType<T, half, float>(call);
    const emulation::Walker<T> to(call, "dst", dst), from(call, "src", src);
    std::vector<float> sums(config.isLastAxis ? info.outter : info.inner);
    for (uint64_t i = 0; i < uint64_t{info.outter} * info.inner; i++) {
        float &sum = sums[config.isLastAxis ? i / info.inner : i % info.inner];
        to.operand.Store(i, T(sum += static_cast<float>(from.operand.Load(i))));
    }
    for (uint64_t i = 0; config.outputLastRow && i < info.inner; i++) {
        const uint64_t at = (uint64_t{info.outter} - 1) * info.inner + i;
        emulation::Walker<T>(call, "lastRow", lastRow).operand.Store(i, to.operand.Load(at));
    }
}

template <typename T, const CumSumConfig &config = defaultCumSumConfig>
void CumSum(const LocalTensor<T> &dst, const LocalTensor<T> &lastRow, const LocalTensor<T> &src,
            const LocalTensor<uint8_t> &sharedTmpBuffer, const CumSumInfo &info,
            emulation::Site site = emulation::Site::Here())
{
    emulation::Within(emulation::Call("CumSum", site), sharedTmpBuffer, 0);
    CumSum<T, config>(dst, lastRow, src, info, site);
}

/* src / keepProb where the mask is set: bytes for modes 1 and 2, bits for 3 and 4; 0 elsewhere. */
template <typename T, bool isInitBitMode = false, uint32_t dropOutMode = 0>
void DropOut(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<uint8_t> &mask,
             const LocalTensor<uint8_t> &sharedTmpBuffer, float keepProb,
             const DropOutShapeInfo &info, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("DropOut", site);
    emulation::RequireType<T, half, float>(call);
    emulation::Within(call, sharedTmpBuffer, 0);
    const emulation::Walker<T> to(call, "dst", dst), from(call, "src", src);
    const emulation::Walker<uint8_t> chosen(call, "mask", mask);
    const bool bits =
        dropOutMode >= 3 || (dropOutMode == 0 && info.maskLastAxis < info.srcLastAxis);
    for (uint64_t i = 0; i < uint64_t{info.firstAxis} * info.srcLastAxis; i++) {
        const uint64_t row = i / info.srcLastAxis * info.maskLastAxis, at = i % info.srcLastAxis;
        const uint8_t byte = chosen.operand.Load(row + (bits ? at / 8 : at));
        const bool kept = bits ? (byte >> (at % 8) & 1U) != 0 : byte != 0;
        to.operand.Store(
            i, T(kept ? static_cast<float>(from.operand.Load(i)) / keepProb : 0.0F));
    }
}

}  // namespace AscendC
