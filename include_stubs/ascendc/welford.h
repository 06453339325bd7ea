/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Means and variances of Welford's algorithm, a row of the data after the other, and GroupNorm.
 * The variance of WelfordUpdate is the sum of squares so far; WelfordFinalize divides it.
 */
#pragma once

#include "ascendc/arithmetic.h"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC {

struct WelfordUpdateConfig {
    bool isInplace = false; /* what is behind abComputeLength is not copied */
};
inline constexpr WelfordUpdateConfig WFUPDATE_DEFAULT_CFG{};

struct WelfordUpdateParam {
    uint32_t rnLength = 0, abLength = 0, abComputeLength = 0;
    float nRec = 0; /* 1 / the number of rows, with this one */
};

struct WelfordFinalizePara {
    uint32_t rnLength = 0, abLength = 0;
    uint32_t headCount = 0, headCountLength = 0, tailCount = 0, tailCountLength = 0;
    float abRec = 0, rRec = 0; /* 1 / abLength, 1 / the number of all elements */
};

template <typename T, typename U, bool isReuseSource = false,
          const WelfordUpdateConfig &config = WFUPDATE_DEFAULT_CFG>
void WelfordUpdate(const LocalTensor<U> &outputMean, const LocalTensor<U> &outputVariance,
                   const LocalTensor<U> &inputMean, const LocalTensor<U> &inputVariance,
                   const LocalTensor<T> &inputX, const WelfordUpdateParam &para,
                   emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("WelfordUpdate", site);
    emulation::RequireType<T, half, float>(call);
    emulation::RequireType<U, float>(call);
    if (para.rnLength != 1 || para.abComputeLength == 0 || para.abComputeLength > para.abLength) {
        call.Fail(emulation::rule::Bounds,
                  emulation::Text("rnLength is %u, abLength %u and abComputeLength %u; the first "
                                  "must be 1, and the last positive and no more than abLength",
                                  para.rnLength, para.abLength, para.abComputeLength));
    }
    const emulation::Walker<U> mean(call, "outputMean", outputMean);
    const emulation::Walker<U> variance(call, "outputVariance", outputVariance);
    const emulation::Walker<U> mean_before(call, "inputMean", inputMean);
    const emulation::Walker<U> variance_before(call, "inputVariance", inputVariance);
    const emulation::Walker<T> from(call, "inputX", inputX);
    for (uint64_t i = 0; i < para.abLength; i++) {
        if (i >= para.abComputeLength) {
            if (!config.isInplace) {
                emulation::Move(mean.operand, i, mean_before.operand, i);
                emulation::Move(variance.operand, i, variance_before.operand, i);
            }
            continue;
        }
        const auto x = static_cast<float>(from.operand.Load(i));
        const float before = mean_before.operand.Load(i), off = x - before;
        const float now = before + para.nRec * off;
        const float squares = variance_before.operand.Load(i) + off * (x - now);
        mean.operand.Store(i, now);
        variance.operand.Store(i, squares);
    }
}

template <typename T, typename U, bool isReuseSource = false,
          const WelfordUpdateConfig &config = WFUPDATE_DEFAULT_CFG>
void WelfordUpdate(const LocalTensor<U> &outputMean, const LocalTensor<U> &outputVariance,
                   const LocalTensor<U> &inputMean, const LocalTensor<U> &inputVariance,
                   const LocalTensor<T> &inputX, const LocalTensor<uint8_t> &sharedTmpBuffer,
                   const WelfordUpdateParam &para, emulation::Site site = emulation::Site::Here())
{
    emulation::Within(emulation::Call("WelfordUpdate", site), sharedTmpBuffer, 0);
    WelfordUpdate<T, U, isReuseSource, config>(outputMean, outputVariance, inputMean,
                                               inputVariance, inputX, para, site);
}

namespace emulation {

/* The mean and the variance of all columns; `count` returns the rows that a column is of. */
template <typename F>
void FinishWelford(const Call &call, const LocalTensor<float> &outputMean,
                   const LocalTensor<float> &outputVariance, const LocalTensor<float> &inputMean,
                   const LocalTensor<float> &inputVariance, const WelfordFinalizePara &para,
                   F count)
{
    const Walker<float> means(call, "inputMean", inputMean);
    const Walker<float> squares(call, "inputVariance", inputVariance);
    if (para.headCountLength + para.tailCountLength > para.abLength || para.abLength == 0) {
        call.Fail(rule::Bounds, "abLength must be positive, and headCountLength and "
                                "tailCountLength together no more than it");
    }
    double mean = 0, sum = 0;
    for (uint64_t i = 0; i < para.abLength; i++) {
        mean += static_cast<double>(means.operand.Load(i)) * count(i) * para.rRec;
    }
    for (uint64_t i = 0; i < para.abLength; i++) {
        const double off = static_cast<double>(means.operand.Load(i)) - mean;
        sum += static_cast<double>(squares.operand.Load(i)) + off * off * count(i);
    }
    Walker<float>(call, "outputMean", outputMean).operand.Store(0, static_cast<float>(mean));
    Walker<float>(call, "outputVariance", outputVariance)
        .operand.Store(0, static_cast<float>(sum * para.rRec));
}

}  // namespace emulation

/* With counts of rows for each column, or for the first and the last ones. */
#define ASCENDC_WELFORD(more, temporary, within, ...)                                              \
    template <bool isReuseSource = false>                                                          \
    void WelfordFinalize(const LocalTensor<float> &outputMean,                                     \
                         const LocalTensor<float> &outputVariance,                                 \
                         const LocalTensor<float> &inputMean,                                      \
                         const LocalTensor<float> &inputVariance ASCENDC_LIST more                 \
                             ASCENDC_LIST temporary,                                               \
                         const WelfordFinalizePara &para,                                          \
                         emulation::Site site = emulation::Site::Here())                           \
    {                                                                                              \
        const emulation::Call call("WelfordFinalize", site);                                       \
        within;                                                                                    \
        emulation::FinishWelford(call, outputMean, outputVariance, inputMean, inputVariance, para, \
                                 [&](uint64_t i) { return __VA_ARGS__; });                         \
    }
#define ASCENDC_BY_WELFORD(more, ...)                                                              \
    ASCENDC_WELFORD(more, (), static_cast<void>(0), __VA_ARGS__)                                   \
    ASCENDC_WELFORD(more, (, const LocalTensor<uint8_t> &sharedTmpBuffer),                         \
                    emulation::Within(call, sharedTmpBuffer, 0), __VA_ARGS__)
ASCENDC_BY_WELFORD((), para.tailCountLength == 0       ? para.rnLength
                       : i < para.headCountLength      ? para.headCount
                                                       : para.tailCount)
ASCENDC_BY_WELFORD((, const LocalTensor<int32_t> &counts),
                   emulation::Operand<int32_t>(call, "counts", counts).Load(i))
#undef ASCENDC_BY_WELFORD
#undef ASCENDC_WELFORD

/* Groups of channels of the same number each; mean and variance are those of the groups. */
template <typename T, bool isReuseSource = false>
void GroupNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean,
               const LocalTensor<T> &outputVariance, const LocalTensor<T> &inputX,
               const LocalTensor<T> &gamma, const LocalTensor<T> &beta,
               emulation::Scalar<T> epsilon, const GroupNormTiling &tiling,
               emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("GroupNorm", site);
    emulation::RequireType<T, half, float>(call);
    const emulation::Walker<T> to(call, "output", output), from(call, "inputX", inputX);
    const emulation::Walker<T> means(call, "outputMean", outputMean);
    const emulation::Walker<T> variances(call, "outputVariance", outputVariance);
    const emulation::Walker<T> scale(call, "gamma", gamma), shift(call, "beta", beta);
    if (tiling.g == 0 || tiling.d == 0 || tiling.g * tiling.d != tiling.c || tiling.hw == 0 ||
        tiling.hw * sizeof(T) % emulation::BlockBytes != 0) {
        call.Fail(emulation::rule::Tiling, "tiling",
                  emulation::Text("c is %u, g %u, d %u and hw %u; c must be g * d, and hw whole "
                                  "blocks of 32 bytes",
                                  tiling.c, tiling.g, tiling.d, tiling.hw));
    }
    const uint64_t length = uint64_t{tiling.d} * tiling.hw;
    for (uint64_t group = 0; group < uint64_t{tiling.n} * tiling.g; group++) {
        const uint64_t first = group * length;
        double sum = 0, squares = 0;
        for (uint64_t i = first; i < first + length; i++) {
            sum += static_cast<double>(from.operand.Load(i));
        }
        const double mean = sum / static_cast<double>(length);
        for (uint64_t i = first; i < first + length; i++) {
            squares += std::pow(static_cast<double>(from.operand.Load(i)) - mean, 2);
        }
        const double variance = squares / static_cast<double>(length);
        for (uint64_t i = first; i < first + length; i++) {
            const uint64_t channel = i / tiling.hw % tiling.c;
            const double x = static_cast<double>(from.operand.Load(i)) - mean;
            to.operand.Store(i, emulation::NarrowTo<T>(
                                    x / std::sqrt(variance + static_cast<double>(epsilon)) *
                                        static_cast<double>(scale.operand.Load(channel)) +
                                    static_cast<double>(shift.operand.Load(channel))));
        }
        means.operand.Store(group, emulation::NarrowTo<T>(mean));
        variances.operand.Store(group, emulation::NarrowTo<T>(variance));
    }
}

template <typename T, bool isReuseSource = false>
void GroupNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean,
               const LocalTensor<T> &outputVariance, const LocalTensor<T> &inputX,
               const LocalTensor<T> &gamma, const LocalTensor<T> &beta,
               const LocalTensor<uint8_t> &sharedTmpBuffer, emulation::Scalar<T> epsilon,
               const GroupNormTiling &tiling, emulation::Site site = emulation::Site::Here())
{
    emulation::Within(emulation::Call("GroupNorm", site), sharedTmpBuffer, 0);
    GroupNorm<T, isReuseSource>(output, outputMean, outputVariance, inputX, gamma, beta, epsilon,
                                tiling, site);
}

}  // namespace AscendC
