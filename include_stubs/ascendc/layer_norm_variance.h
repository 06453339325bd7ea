/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LayerNorm with mean and variance, over [B, S, H]: rows in chunks of the tiling's size, computed
 * in float for every type.
 */
#pragma once

#include "ascendc/normalization.h"

namespace AscendC::emulation {

/* (x - mean) * rstd * gamma + beta over a row; gamma and beta are left out where they are NULL. */
inline std::vector<float> Normalized(const std::vector<float> &x, float mean, float rstd,
                                     const float *gamma, const float *beta)
{
    std::vector<float> y(x.size());
    for (size_t i = 0; i < x.size(); i++) {
        y[i] = (x[i] - mean) * rstd;
        y[i] = gamma != nullptr ? y[i] * gamma[i] : y[i];
        y[i] = beta != nullptr ? y[i] + beta[i] : y[i];
    }
    return y;
}

struct Moments {
    float mean, variance;
};

/* Over the first elements of a row. The reciprocal of their number is part * rest: what is summed
 * is multiplied by part, so that it cannot overflow, and the sum by rest. */
inline Moments MomentsOf(const std::vector<float> &x, uint32_t elements, float part, float rest)
{
    const float mean = SumOf(elements, [&](uint32_t i) { return x[i] * part; }) * rest;
    const float variance = SumOf(elements, [&](uint32_t i) {
        return (x[i] - mean) * (x[i] - mean) * part;
    });
    return {mean, variance * rest};
}

template <typename T> struct LayerNormOperands {
    Operand<T> y, mean, variance, x, gamma, beta;

    void Check(const LayerNormTiling &tiling)
    {
        const uint64_t rows = uint64_t{tiling.bLength} * tiling.sLength;
        for (Operand<T> *operand : {&y, &x}) {
            operand->InVectorMemory().Aligned().Holds(rows * tiling.hLength);
        }
        for (Operand<T> *operand : {&gamma, &beta}) {
            operand->InVectorMemory().Aligned().Holds(tiling.hLength);
            RequireApart(y, *operand);
        }
        for (Operand<T> *operand : {&mean, &variance}) {
            operand->InVectorMemory().Aligned().Holds(rows);
            for (const Operand<T> *other : {&y, &x, &gamma, &beta}) {
                RequireApart(*operand, *other);
            }
        }
        RequireApart(mean, variance);
        RequireSameOrApart(y, x);
    }
};

inline void CheckTiling(const Call &call, const LayerNormTiling &tiling)
{
    RequireTiling(call, tiling.originalHLength >= 1 && tiling.originalHLength <= tiling.hLength,
                  Text("originalHLength is %u; it must be 1 to hLength, which is %u",
                       tiling.originalHLength, tiling.hLength));
    RequireChunk(call, "oneTmpSize", tiling.oneTmpSize, tiling.hLength);
    RequireCovered(call, uint64_t{tiling.loopRound} * tiling.oneTmpSize + tiling.inputTailSize,
                   uint64_t{tiling.bLength} * tiling.sLength * tiling.hLength);
}

/* Bytes of temporary memory that the tiling addresses. */
template <typename T, bool isReuseSource> uint64_t TemporaryOf(const LayerNormTiling &tiling)
{
    const uint64_t buffers = isReuseSource && std::is_same_v<T, float> ? 2 : 3;
    return (tiling.firstTmpStartPos + buffers * tiling.oneTmpSize) * sizeof(float);
}

template <typename T, bool isReuseSource>
void NormalizeRows(const LayerNormOperands<T> &o, float epsilon, const LayerNormTiling &tiling)
{
    const uint32_t h = tiling.hLength;
    const std::vector<float> gamma = Floats(o.gamma, 0, h), beta = Floats(o.beta, 0, h);
    const auto chunk = [&](uint64_t first, uint64_t elements) {
        for (uint64_t row = first / h; row < (first + elements) / h; row++) {
            const std::vector<float> x = Floats(o.x, row * h, h);
            const Moments of =
                MomentsOf(x, tiling.originalHLength, tiling.lastDimValueBack, 1.0F);
            const float rstd = 1.0F / std::sqrt(of.variance + epsilon);
            Put(o.y, row * h, Normalized(x, of.mean, rstd, gamma.data(), beta.data()));
            o.mean.Store(row, static_cast<T>(of.mean));
            o.variance.Store(row, static_cast<T>(of.variance));
        }
    };
    for (uint64_t round = 0; round < tiling.loopRound; round++) {
        chunk(round * tiling.oneTmpSize, tiling.oneTmpSize);
    }
    chunk(tiling.inputTailPos, tiling.inputTailSize);
    if (isReuseSource && !o.y.Starts(o.x)) {
        o.x.Consume(uint64_t{tiling.bLength} * tiling.sLength * h);
    }
}

}  // namespace AscendC::emulation
