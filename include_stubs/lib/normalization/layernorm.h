/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LayerNorm in its two forms, each with temporary memory of the caller's or of the framework's.
 */
#pragma once

#include "ascendc/layer_norm_rstd.h"

namespace AscendC {
namespace emulation {

template <typename T, bool isReuseSource, typename... Shared>
void LayerNormVariance(const Call &call, LayerNormOperands<T> operands, float epsilon,
                       const LayerNormTiling &tiling, const Shared &...shared)
{
    RequireChip(call);
    RequireElements<T, isReuseSource>(call);
    RequireLastAxis<T>(call, "H", tiling.hLength);
    CheckTiling(call, tiling);
    operands.Check(tiling);
    UseTemporary(call, shared..., TemporaryOf<T, isReuseSource>(tiling));
    NormalizeRows<T, isReuseSource>(operands, epsilon, tiling);
}

template <typename U, typename T, bool isReuseSource, typename... Shared>
void LayerNormRstd(const Call &call, LayerNormRstdOperands<U, T> operands, float epsilon,
                   const LayerNormConfig &config, const LayerNormPara &para,
                   const LayerNormSeparateTiling &tiling, const Shared &...shared)
{
    RequireChip(call);
    CheckForm<U, T, isReuseSource>(call, config);
    CheckTiling<T>(call, para, tiling);
    operands.Check(para, config);
    UseTemporary(call, shared..., TemporaryOf(config, para, tiling));
    NormalizeRows(operands, epsilon, config, para, tiling);
}

}  // namespace emulation

template <typename T, bool isReuseSource = false>
void LayerNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean,
               const LocalTensor<T> &outputVariance, const LocalTensor<T> &inputX,
               const LocalTensor<T> &gamma, const LocalTensor<T> &beta,
               const LocalTensor<uint8_t> &sharedTmpBuffer, const T epsilon,
               LayerNormTiling &tiling, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("LayerNorm", site);
    emulation::LayerNormVariance<T, isReuseSource>(
        call,
        {{call, "output", output}, {call, "outputMean", outputMean},
         {call, "outputVariance", outputVariance}, {call, "inputX", inputX},
         {call, "gamma", gamma}, {call, "beta", beta}},
        static_cast<float>(epsilon), tiling, sharedTmpBuffer);
}

template <typename T, bool isReuseSource = false>
void LayerNorm(const LocalTensor<T> &output, const LocalTensor<T> &outputMean,
               const LocalTensor<T> &outputVariance, const LocalTensor<T> &inputX,
               const LocalTensor<T> &gamma, const LocalTensor<T> &beta, const T epsilon,
               LayerNormTiling &tiling, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("LayerNorm", site);
    emulation::LayerNormVariance<T, isReuseSource>(
        call,
        {{call, "output", output}, {call, "outputMean", outputMean},
         {call, "outputVariance", outputVariance}, {call, "inputX", inputX},
         {call, "gamma", gamma}, {call, "beta", beta}},
        static_cast<float>(epsilon), tiling);
}

template <typename U, typename T, bool isReuseSource = false,
          const LayerNormConfig &config = LNCFG_NORM>
void LayerNorm(const LocalTensor<T> &output, const LocalTensor<float> &outputMean,
               const LocalTensor<float> &outputRstd, const LocalTensor<T> &inputX,
               const LocalTensor<U> &gamma, const LocalTensor<U> &beta, const float epsilon,
               const LocalTensor<uint8_t> &sharedTmpBuffer, const LayerNormPara &para,
               const LayerNormSeparateTiling &tiling,
               emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("LayerNorm", site);
    emulation::LayerNormRstd<U, T, isReuseSource>(
        call,
        {{call, "output", output}, {call, "outputMean", outputMean},
         {call, "outputRstd", outputRstd}, {call, "inputX", inputX}, {call, "gamma", gamma},
         {call, "beta", beta}},
        epsilon, config, para, tiling, sharedTmpBuffer);
}

template <typename U, typename T, bool isReuseSource = false,
          const LayerNormConfig &config = LNCFG_NORM>
void LayerNorm(const LocalTensor<T> &output, const LocalTensor<float> &outputMean,
               const LocalTensor<float> &outputRstd, const LocalTensor<T> &inputX,
               const LocalTensor<U> &gamma, const LocalTensor<U> &beta, const float epsilon,
               const LayerNormPara &para, const LayerNormSeparateTiling &tiling,
               emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("LayerNorm", site);
    emulation::LayerNormRstd<U, T, isReuseSource>(
        call,
        {{call, "output", output}, {call, "outputMean", outputMean},
         {call, "outputRstd", outputRstd}, {call, "inputX", inputX}, {call, "gamma", gamma},
         {call, "beta", beta}},
        epsilon, config, para, tiling);
}

}  // namespace AscendC
