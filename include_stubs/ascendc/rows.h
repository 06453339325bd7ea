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

/* A flag of a template; configurations count as none. */
template <typename V> constexpr bool Flag(V value)
{
    if constexpr (std::is_convertible_v<V, bool>) {
        return static_cast<bool>(value);
    } else {
        return false;
    }
}
template <auto first = false, auto...> constexpr bool FirstFlag() { return Flag(first); }

/* The flag of a template that says that rows lie in fractals; its number differs. */
template <size_t number, auto... flags> void RequireRows(const Call &call)
{
    const bool values[] = {Flag(flags)..., false};
    if (number < sizeof...(flags) && values[number]) {
        call.Fail(rule::Dtype, "isDataFormatNZ is not simulated: give rows (ND)");
    }
}

/* The first element of a block of 32 bytes for each row. */
template <typename U> double RowValue(const Walker<U> &rows, uint64_t row)
{
    return static_cast<double>(rows.operand.Load(row * (BlockBytes / sizeof(U))));
}
template <typename U> void PutRow(const Walker<U> &rows, uint64_t row, double value)
{
    constexpr uint64_t width = BlockBytes / sizeof(U);
    for (uint64_t i = row * width; i < (row + 1) * width; i++) {
        rows.operand.Store(i, NarrowTo<U>(value));
    }
}

inline void RequireShape(const Call &call, const SoftMaxShapeInfo &shape)
{
    if (shape.srcK == 0 || shape.oriSrcK == 0 || shape.oriSrcK > shape.srcK) {
        call.Fail(rule::Bounds, Text("srcK is %u and oriSrcK %u; they must be positive, and "
                                     "oriSrcK no more than srcK",
                                     shape.srcK, shape.oriSrcK));
    }
}

/* Calls store(place, x - maximum, row), and puts sums and maxima where they are asked for. */
template <typename T, typename U, typename F>
void SoftMaxRows(const Call &call, const LocalTensor<U> *sum, const LocalTensor<U> *max,
                 const LocalTensor<T> &src, const SoftMaxShapeInfo &shape, F store)
{
    RequireType<T, half, float>(call);
    const Walker<T> from(call, "src", src);
    RequireShape(call, shape);
    for (uint64_t row = 0; row < shape.srcM; row++) {
        const Exponentials all(from, row * shape.srcK, shape.oriSrcK);
        for (uint64_t i = 0; i < shape.srcK; i++) {
            store(row * shape.srcK + i, i < all.values.size() ? all.values[i] : -INFINITY, all);
        }
        if (sum != nullptr) {
            PutRow(Walker<U>(call, "sum", *sum), row, all.sum);
            PutRow(Walker<U>(call, "max", *max), row, all.maximum);
        }
    }
}

/*
 * A part of the columns after others: what these left is rescaled to the new maximum. The first
 * version divides by the sum so far, the second leaves that to the caller.
 */
template <bool divides, typename T, typename U>
void FlashRows(const Call &call, bool update, const LocalTensor<T> &dst,
               const LocalTensor<U> &outSum, const LocalTensor<U> &outMax,
               const LocalTensor<T> &src, const LocalTensor<T> &expMax,
               const LocalTensor<U> &inSum, const LocalTensor<U> &inMax,
               const SoftMaxShapeInfo &shape)
{
    RequireType<T, half, float>(call);
    RequireShape(call, shape);
    const Walker<T> to(call, "dst", dst), from(call, "src", src);
    const Walker<U> sums(call, "outSum", outSum), maxima(call, "outMax", outMax);
    for (uint64_t row = 0; row < shape.srcM; row++) {
        const Exponentials own(from, row * shape.srcK, shape.oriSrcK);
        double sum = own.sum, maximum = own.maximum, rescale = 0;
        if (update) {
            const double before = RowValue(Walker<U>(call, "inMax", inMax), row);
            const double earlier = RowValue(Walker<U>(call, "inSum", inSum), row);
            maximum = std::max(before, own.maximum);
            rescale = std::exp(before - maximum);
            sum = own.sum * std::exp(own.maximum - maximum) + rescale * earlier;
            rescale *= divides ? earlier / sum : 1;
            PutRow(Walker<T>(call, "expMax", expMax), row, rescale);
        }
        PutRow(sums, row, sum);
        PutRow(maxima, row, maximum);
        for (uint64_t i = 0; i < shape.srcK; i++) {
            const double x = i < shape.oriSrcK
                                 ? std::exp(own.values[i] + own.maximum - maximum)
                                 : 0;
            to.operand.Store(row * shape.srcK + i, NarrowTo<T>(divides ? x / sum : x));
        }
    }
}

/* The sum of grad * src of each row, alone or subtracted from the gradient. */
template <typename T>
void SoftMaxGradRows(const Call &call, const LocalTensor<T> &dst, const LocalTensor<T> &grad,
                     const LocalTensor<T> &src, bool front, const SoftMaxShapeInfo &shape)
{
    RequireType<T, half, float>(call);
    RequireShape(call, shape);
    const Walker<T> to(call, "dstTensor", dst), of(call, "gradTensor", grad);
    const Walker<T> from(call, "srcTensor", src);
    for (uint64_t row = 0; row < shape.srcM; row++) {
        const uint64_t first = row * shape.srcK;
        double sum = 0;
        for (uint64_t i = first; i < first + shape.oriSrcK; i++) {
            sum += static_cast<double>(of.operand.Load(i)) *
                   static_cast<double>(from.operand.Load(i));
        }
        for (uint64_t i = first; !front && i < first + shape.oriSrcK; i++) {
            to.operand.Store(i, NarrowTo<T>((static_cast<double>(of.operand.Load(i)) - sum) *
                                            static_cast<double>(from.operand.Load(i))));
        }
        if (front) {
            PutRow(to, row, sum);
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

/* With temporary memory or none; `format` is the number of the flag isDataFormatNZ. */
#define ASCENDC_ROWS(Name, more, tensors, rest, format, ...)                                       \
    template <typename T, auto... flags ASCENDC_LIST more>                                         \
    void Name(ASCENDC_LIST tensors, ASCENDC_LIST rest,                                             \
              emulation::Site site = emulation::Site::Here())                                      \
    {                                                                                              \
        const emulation::Call call(#Name, site);                                                   \
        emulation::RequireRows<format, flags...>(call);                                            \
        __VA_ARGS__;                                                                               \
    }                                                                                              \
    template <typename T, auto... flags ASCENDC_LIST more>                                         \
    void Name(ASCENDC_LIST tensors, const LocalTensor<uint8_t> &sharedTmpBuffer,                   \
              ASCENDC_LIST rest, emulation::Site site = emulation::Site::Here())                   \
    {                                                                                              \
        const emulation::Call call(#Name, site);                                                   \
        emulation::RequireRows<format, flags...>(call);                                            \
        emulation::Within(call, sharedTmpBuffer, 0);                                               \
        __VA_ARGS__;                                                                               \
    }

#define ASCENDC_SOFTMAX(Name, Tiling, ...)                                                         \
    ASCENDC_ROWS(                                                                                  \
        Name, (, typename U),                                                                      \
        (const LocalTensor<T> &dst, const LocalTensor<U> &sum,                                     \
         const LocalTensor<U> &max, const LocalTensor<T> &src),                                    \
        (const Tiling &, const SoftMaxShapeInfo &shape = {}), (2),                                 \
        const emulation::Walker<T> to(call, "dst", dst);                                           \
        emulation::SoftMaxRows(call, &sum, &max, src, shape,                                       \
                               [&to](uint64_t at, double x, const emulation::Exponentials &row) {  \
                                   to.operand.Store(at, emulation::NarrowTo<T>(__VA_ARGS__));      \
                               }))

ASCENDC_SOFTMAX(SoftMax, SoftMaxTiling, std::exp(x) / row.sum)
ASCENDC_SOFTMAX(LogSoftMax, LogSoftMaxTiling, x - std::log(row.sum))
ASCENDC_ROWS(SoftMax, (), (const LocalTensor<T> &dst, const LocalTensor<T> &src),
             (const SoftMaxTiling &, const SoftMaxShapeInfo &shape = {}), (2),
             const emulation::Walker<T> to(call, "dst", dst);
             const LocalTensor<T> *none = nullptr;
             emulation::SoftMaxRows(
                 call, none, none, src, shape,
                 [&to](uint64_t at, double x, const emulation::Exponentials &row) {
                     to.operand.Store(at, emulation::NarrowTo<T>(std::exp(x) / row.sum));
                 }))
/* With sums and maxima that an earlier call left. */
ASCENDC_ROWS(SimpleSoftMax, (, typename U),
             (const LocalTensor<T> &dst, const LocalTensor<U> &inSum, const LocalTensor<U> &inMax,
              const LocalTensor<T> &src),
             (const SoftMaxTiling &, const SoftMaxShapeInfo &shape = {}), (2),
             emulation::RequireType<T, half, float>(call); emulation::RequireShape(call, shape);
             const emulation::Walker<T> to(call, "dst", dst), from(call, "src", src);
             const emulation::Walker<U> sums(call, "inSum", inSum), maxima(call, "inMax", inMax);
             for (uint64_t i = 0; i < uint64_t{shape.srcM} * shape.srcK; i++) {
                 if (i % shape.srcK < shape.oriSrcK) {
                     const uint64_t row = i / shape.srcK;
                     const auto x = static_cast<double>(from.operand.Load(i));
                     to.operand.Store(i, emulation::NarrowTo<T>(
                                             std::exp(x - emulation::RowValue(maxima, row)) /
                                             emulation::RowValue(sums, row)));
                 }
             })
#define ASCENDC_FLASH_TENSORS                                                                      \
    (const LocalTensor<T> &dst, const LocalTensor<U> &outSum, const LocalTensor<U> &outMax,        \
     const LocalTensor<T> &src, const LocalTensor<T> &expMax, const LocalTensor<U> &inSum,         \
     const LocalTensor<U> &inMax)
ASCENDC_ROWS(SoftmaxFlash, (, typename U), ASCENDC_FLASH_TENSORS,
             (const SoftMaxTiling &, bool isUpdate = false, const SoftMaxShapeInfo &shape = {}),
             (9),
             emulation::FlashRows<true>(call, isUpdate, dst, outSum, outMax, src, expMax, inSum,
                                        inMax, shape))
ASCENDC_ROWS(SoftmaxFlashV2, (, typename U), ASCENDC_FLASH_TENSORS,
             (const SoftMaxTiling &, const SoftMaxShapeInfo &shape = {}), (3),
             emulation::FlashRows<false>(call, emulation::FirstFlag<flags...>(), dst, outSum,
                                         outMax, src, expMax, inSum, inMax, shape))
#undef ASCENDC_FLASH_TENSORS
ASCENDC_ROWS(SoftmaxGrad, (),
             (const LocalTensor<T> &dst, const LocalTensor<T> &grad, const LocalTensor<T> &src),
             (const SoftMaxTiling &, bool isFront = false, const SoftMaxShapeInfo &shape = {}),
             (2), emulation::SoftMaxGradRows(call, dst, grad, src, isFront, shape))
ASCENDC_ROWS(SoftmaxGradFront, (),
             (const LocalTensor<T> &dst, const LocalTensor<T> &grad, const LocalTensor<T> &src),
             (const SoftMaxTiling &, const SoftMaxShapeInfo &shape = {}), (1),
             emulation::SoftMaxGradRows(call, dst, grad, src, true, shape))
ASCENDC_ROWS(RmsNorm, (),
             (const LocalTensor<T> &dst, const LocalTensor<T> &src, const LocalTensor<T> &gamma),
             (emulation::Scalar<T> epsilon, const RmsNormTiling &tiling), (9),
             emulation::RmsNormRows(call, dst, src, gamma, epsilon, tiling))

#undef ASCENDC_ROWS
#undef ASCENDC_SOFTMAX

/* Rows whose maximum has the bits `from` get the value `to`; returns whether there were any. */
template <typename T1, typename T2, bool isDataFormatNZ = false, uint8_t stepSizeMode = 0>
bool AdjustSoftMaxRes(const LocalTensor<T1> &softMaxRes, const LocalTensor<T2> &maxTensor,
                      uint32_t from, emulation::Scalar<T1> to, const SoftMaxShapeInfo &shape,
                      emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("AdjustSoftMaxRes", site);
    emulation::RequireRows<0, isDataFormatNZ || stepSizeMode != 0>(call);
    const emulation::Walker<T1> result(call, "softMaxRes", softMaxRes);
    const emulation::Walker<T2> maxima(call, "maxTensor", maxTensor);
    using Bits = std::conditional_t<sizeof(T2) == 2, uint16_t, uint32_t>;
    bool any = false;
    for (uint64_t row = 0; row < shape.srcM; row++) {
        const T2 maximum = maxima.operand.Load(row * (emulation::BlockBytes / sizeof(T2)));
        if (emulation::BitCast<Bits>(maximum) == static_cast<Bits>(from)) {
            any = true;
            for (uint64_t i = 0; i < shape.srcK; i++) {
                result.operand.Store(row * shape.srcK + i, to);
            }
        }
    }
    return any;
}

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

}  // namespace AscendC
