/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LayerNormGradBeta: the gradients with respect to gamma and beta, sums over all rows in float.
 */
#pragma once

#include "ascendc/normalization.h"

namespace AscendC {
namespace emulation {

template <typename T> struct LayerNormGradBetaOperands {
    Operand<T> pd_gamma, pd_beta, res_for_gamma, dy;

    void Check(const LayerNormGradBetaTiling &tiling)
    {
        const uint64_t all = uint64_t{tiling.bLength} * tiling.sLength * tiling.hLength;
        for (Operand<T> *operand : {&pd_gamma, &pd_beta}) {
            operand->InVectorMemory().Aligned().Holds(tiling.hLength);
        }
        for (Operand<T> *operand : {&res_for_gamma, &dy}) {
            operand->InVectorMemory().Aligned().Holds(all);
        }
        RequireApart(pd_gamma, pd_beta);
    }
};

inline void CheckTiling(const Call &call, const LayerNormGradBetaTiling &tiling)
{
    RequireTiling(call, tiling.hLength == tiling.originalHLength,
                  Text("hLength is %u and originalHLength %u; they must be equal, because the rows "
                       "are looked for in steps of the one and written in steps of the other",
                       tiling.hLength, tiling.originalHLength));
    RequireChunk(call, "oneCalSize", tiling.oneCalSize, tiling.hLength);
    RequireCovered(call, uint64_t{tiling.loopRound} * tiling.oneCalSize + tiling.inputTailSize,
                   uint64_t{tiling.bLength} * tiling.sLength * tiling.hLength);
}

/* Bytes of temporary memory: sums of two rows, and for half the chunk of both sources as float. */
template <typename T> uint64_t TemporaryOf(const LayerNormGradBetaTiling &tiling)
{
    if (Core::Current().chip.RegBase()) {
        return 0;
    }
    const uint64_t sums = 2 * uint64_t{tiling.hLength};
    const uint64_t widened = std::is_same_v<T, float> ? 0 : 2 * uint64_t{tiling.oneCalSize};
    return (sums + widened) * sizeof(float);
}

template <typename T, bool isReuseSource, typename... Shared>
void SumOverRows(const Call &call, LayerNormGradBetaOperands<T> o,
                 const LayerNormGradBetaTiling &tiling, const Shared &...shared)
{
    RequireChip(call);
    RequireElements<T, isReuseSource>(call);
    RequireLastAxis<T>(call, "H", tiling.hLength);
    CheckTiling(call, tiling);
    o.Check(tiling);
    UseTemporary(call, shared..., TemporaryOf<T>(tiling));
    const uint32_t h = tiling.hLength;
    std::vector<float> gamma(h, 0.0F), beta(h, 0.0F);
    const auto chunk = [&](uint64_t first, uint64_t elements) {
        const std::vector<float> dy = Floats(o.dy, first, elements);
        const std::vector<float> res = Floats(o.res_for_gamma, first, elements);
        for (uint64_t i = 0; i < elements; i++) {
            gamma[i % h] += dy[i] * res[i];
            beta[i % h] += dy[i];
        }
    };
    for (uint64_t round = 0; round < tiling.loopRound; round++) {
        chunk(round * tiling.oneCalSize, tiling.oneCalSize);
    }
    chunk(tiling.inputTailPos, tiling.inputTailSize);
    if (isReuseSource) { /* documents name the one, chips overwrite the other: neither is safe */
        o.dy.Consume(uint64_t{tiling.bLength} * tiling.sLength * h);
        o.res_for_gamma.Consume(uint64_t{tiling.bLength} * tiling.sLength * h);
    }
    Put(o.pd_gamma, 0, gamma);
    Put(o.pd_beta, 0, beta);
}

}  // namespace emulation

template <typename T, bool isReuseSource = false>
void LayerNormGradBeta(const LocalTensor<T> &outputPdGamma, const LocalTensor<T> &outputPdBeta,
                       const LocalTensor<T> &resForGamma, const LocalTensor<T> &inputDy,
                       const LocalTensor<uint8_t> &sharedTmpBuffer,
                       const LayerNormGradBetaTiling &tiling,
                       emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("LayerNormGradBeta", site);
    emulation::SumOverRows<T, isReuseSource>(
        call,
        {{call, "outputPdGamma", outputPdGamma}, {call, "outputPdBeta", outputPdBeta},
         {call, "resForGamma", resForGamma}, {call, "inputDy", inputDy}},
        tiling, sharedTmpBuffer);
}

template <typename T, bool isReuseSource = false>
void LayerNormGradBeta(const LocalTensor<T> &outputPdGamma, const LocalTensor<T> &outputPdBeta,
                       const LocalTensor<T> &resForGamma, const LocalTensor<T> &inputDy,
                       const LayerNormGradBetaTiling &tiling,
                       emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("LayerNormGradBeta", site);
    emulation::SumOverRows<T, isReuseSource>(
        call,
        {{call, "outputPdGamma", outputPdGamma}, {call, "outputPdBeta", outputPdBeta},
         {call, "resForGamma", resForGamma}, {call, "inputDy", inputDy}},
        tiling);
}

}  // namespace AscendC
