/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LayerNormGrad: the gradient with respect to x, and the normalized x that LayerNormGradBeta takes.
 * It takes the variance, and it sums x - mean as in the formula, although that is zero for the true
 * mean. Everything is computed in float.
 */
#pragma once

#include "ascendc/normalization.h"

namespace AscendC {

struct LayerNormGradShapeInfo {
    DataFormat dataFormat = DataFormat::ND;
};

namespace emulation {

template <typename T> struct LayerNormGradOperands {
    Operand<T> pd_x, res_for_gamma, dy, x, variance, mean, gamma;

    void Check(const LayerNormGradTiling &tiling)
    {
        const uint64_t rows = uint64_t{tiling.bLength} * tiling.sLength;
        for (Operand<T> *operand : {&pd_x, &res_for_gamma, &dy, &x}) {
            operand->InVectorMemory().Aligned().Holds(rows * tiling.hLength);
        }
        variance.InVectorMemory().Aligned().Holds(rows);
        mean.InVectorMemory().Aligned().Holds(rows);
        gamma.InVectorMemory().Aligned().Holds(tiling.hLength);
        RequireApart(pd_x, res_for_gamma);
        for (const Operand<T> *output : {&pd_x, &res_for_gamma}) {
            RequireSameOrApart(*output, dy);
            RequireSameOrApart(*output, x);
            RequireApart(*output, variance);
            RequireApart(*output, mean);
            RequireApart(*output, gamma);
        }
    }
};

inline void CheckTiling(const Call &call, const LayerNormGradTiling &tiling)
{
    RequireTiling(call, tiling.hLength == tiling.originalHLength,
                  Text("hLength is %u and originalHLength %u; they must be equal, because padding "
                       "would be summed with the rest",
                       tiling.hLength, tiling.originalHLength));
    if (!Core::Current().chip.RegBase()) {
        RequireChunk(call, "oneCalSize", tiling.oneCalSize, tiling.hLength);
        RequireCovered(call, uint64_t{tiling.loopNum} * tiling.oneCalSize + tiling.tailSize,
                       uint64_t{tiling.bLength} * tiling.sLength * tiling.hLength);
    }
}

/* Bytes of temporary memory that the tiling addresses. */
template <typename T, bool isReuseSource> uint64_t TemporaryOf(const LayerNormGradTiling &tiling)
{
    constexpr bool reuses = isReuseSource && std::is_same_v<T, float>;
    if (Core::Current().chip.RegBase()) {
        return reuses ? 0 : 2 * RoundUp(tiling.hLength, 8) * sizeof(float);
    }
    constexpr uint64_t buffers = !std::is_same_v<T, float> ? 9 : reuses ? 4 : 6;
    return buffers * tiling.oneCalSize * sizeof(float);
}

/* The five steps of one row, in the names of the documented formula. */
template <typename T>
void RowGradient(const LayerNormGradOperands<T> &o, const std::vector<float> &gamma, uint64_t row,
                 float epsilon, float per_h, float two_per_h)
{
    const auto h = static_cast<uint32_t>(gamma.size());
    const float v = static_cast<float>(o.variance.Load(row)) + epsilon;
    const float mean = static_cast<float>(o.mean.Load(row));
    const float rstd = 1.0F / std::sqrt(v);
    std::vector<float> pd_xl = Floats(o.dy, row * h, h), centred = Floats(o.x, row * h, h);
    for (uint32_t i = 0; i < h; i++) {
        pd_xl[i] *= gamma[i];
        centred[i] -= mean;
    }
    const float slope = rstd / v;
    const float pd_var =
        SumOf(h, [&](uint32_t i) { return -0.5F * pd_xl[i] * centred[i] * slope; });
    const float direct = SumOf(h, [&](uint32_t i) { return -pd_xl[i] * rstd; });
    const float drift = SumOf(h, [&](uint32_t i) { return -2.0F * centred[i]; });
    const float pd_mean = direct + pd_var * per_h * drift;
    std::vector<float> pd_x(h), res_for_gamma(h);
    for (uint32_t i = 0; i < h; i++) {
        pd_x[i] = pd_xl[i] * rstd + pd_var * two_per_h * centred[i] + pd_mean * per_h;
        res_for_gamma[i] = centred[i] * rstd;
    }
    Put(o.pd_x, row * h, pd_x);
    Put(o.res_for_gamma, row * h, res_for_gamma);
}

template <typename T, bool isReuseSource, typename... Shared>
void GradientOfRows(const Call &call, LayerNormGradOperands<T> o, float epsilon,
                    const LayerNormGradTiling &tiling, const LayerNormGradShapeInfo &shapeInfo,
                    const Shared &...shared)
{
    RequireChip(call);
    RequireElements<T, isReuseSource>(call);
    if (shapeInfo.dataFormat != DataFormat::ND) {
        call.Fail(rule::Dtype, "the data format must be DataFormat::ND");
    }
    RequireLastAxis<T>(call, "H", tiling.hLength);
    CheckTiling(call, tiling);
    o.Check(tiling);
    UseTemporary(call, shared..., TemporaryOf<T, isReuseSource>(tiling));
    const uint64_t h = tiling.hLength, rows = uint64_t{tiling.bLength} * tiling.sLength;
    const std::vector<float> gamma = Floats(o.gamma, 0, h);
    /* Rows do not depend on each other, so chunks do not show; CheckTiling saw that they fit. */
    for (uint64_t row = 0; row < rows; row++) {
        RowGradient(o, gamma, row, epsilon, BitCast<float>(tiling.lastDimValueBack),
                    BitCast<float>(tiling.lastDimValueBackMulTwo));
    }
    for (const Operand<T> *source : {&o.dy, &o.x}) {
        if (isReuseSource && !source->Starts(o.pd_x) && !source->Starts(o.res_for_gamma)) {
            source->Consume(rows * h);
        }
    }
}

}  // namespace emulation

template <typename T, bool isReuseSource = false>
void LayerNormGrad(const LocalTensor<T> &outputPdX, const LocalTensor<T> &resForGamma,
                   const LocalTensor<T> &inputDy, const LocalTensor<T> &inputX,
                   const LocalTensor<T> &inputVariance, const LocalTensor<T> &inputMean,
                   const LocalTensor<T> &inputGamma, LocalTensor<uint8_t> &sharedTmpBuffer,
                   T epsilon, LayerNormGradTiling &tiling,
                   const LayerNormGradShapeInfo &shapeInfo = {},
                   emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("LayerNormGrad", site);
    emulation::GradientOfRows<T, isReuseSource>(
        call,
        {{call, "outputPdX", outputPdX}, {call, "resForGamma", resForGamma},
         {call, "inputDy", inputDy}, {call, "inputX", inputX},
         {call, "inputVariance", inputVariance}, {call, "inputMean", inputMean},
         {call, "inputGamma", inputGamma}},
        static_cast<float>(epsilon), tiling, shapeInfo, sharedTmpBuffer);
}

template <typename T, bool isReuseSource = false>
void LayerNormGrad(const LocalTensor<T> &outputPdX, const LocalTensor<T> &resForGamma,
                   const LocalTensor<T> &inputDy, const LocalTensor<T> &inputX,
                   const LocalTensor<T> &inputVariance, const LocalTensor<T> &inputMean,
                   const LocalTensor<T> &inputGamma, T epsilon, LayerNormGradTiling &tiling,
                   const LayerNormGradShapeInfo &shapeInfo = {},
                   emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("LayerNormGrad", site);
    emulation::GradientOfRows<T, isReuseSource>(
        call,
        {{call, "outputPdX", outputPdX}, {call, "resForGamma", resForGamma},
         {call, "inputDy", inputDy}, {call, "inputX", inputX},
         {call, "inputVariance", inputVariance}, {call, "inputMean", inputMean},
         {call, "inputGamma", inputGamma}},
        static_cast<float>(epsilon), tiling, shapeInfo);
}

}  // namespace AscendC
