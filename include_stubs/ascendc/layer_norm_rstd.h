/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LayerNorm with mean and reciprocal of the standard deviation, over [A, R]. Rows may be padded
 * behind rLength; the padding of inputX is multiplied by zero, which writes to it.
 */
#pragma once

#include "ascendc/layer_norm_variance.h"

namespace AscendC {

struct LayerNormConfig {
    bool isNoBeta = false;
    bool isNoGamma = false;
    bool isOnlyOutput = false;
    bool isOutputRstd = true; /* false: the third output is the variance; Ascend 950 only */
};

inline constexpr LayerNormConfig LNCFG_NORM{};

struct LayerNormPara {
    uint32_t aLength;
    uint32_t rLength;
    uint32_t rLengthWithPadding;
};

namespace emulation {

template <typename U, typename T, bool isReuseSource>
void CheckForm(const Call &call, const LayerNormConfig &config)
{
    RequireType<T, half, float>(call);
    RequireType<U, half, float>(call);
    if (sizeof(U) < sizeof(T)) {
        call.Fail(rule::Dtype, Text("gamma and beta are %s and inputX is %s; they must not be "
                                    "narrower",
                                    TypeName<U>(), TypeName<T>()));
    }
    if (isReuseSource) {
        call.Fail(rule::Dtype, "isReuseSource is reserved in this form and must be false");
    }
    if (config.isOnlyOutput) {
        call.Fail(rule::Dtype, "isOnlyOutput must be false: mean and rstd are always computed");
    }
    if (!config.isOutputRstd && !Core::Current().chip.RegBase()) {
        call.Fail(rule::Chip, "isOutputRstd may be false on Ascend 950 only");
    }
}

/* Elements of a chunk: on Ascend 950 the rows are worked on one by one. */
inline uint32_t ChunkOf(const LayerNormPara &para, const LayerNormSeparateTiling &tiling)
{
    return Core::Current().chip.RegBase() ? para.rLengthWithPadding : tiling.oneTmpSize;
}

template <typename T>
void CheckTiling(const Call &call, const LayerNormPara &para, const LayerNormSeparateTiling &tiling)
{
    RequireLastAxis<T>(call, "rLengthWithPadding", para.rLengthWithPadding);
    RequireTiling(call, para.rLength >= 1 && para.rLength <= para.rLengthWithPadding,
                  Text("rLength is %u; it must be 1 to rLengthWithPadding, which is %u",
                       para.rLength, para.rLengthWithPadding));
    RequireTiling(call, para.rLength == tiling.rLength && para.aLength == tiling.aLength,
                  Text("para is %u x %u; the tiling was made for %u x %u", para.aLength,
                       para.rLength, tiling.aLength, tiling.rLength));
    if (!Core::Current().chip.RegBase()) {
        RequireChunk(call, "oneTmpSize", tiling.oneTmpSize, para.rLengthWithPadding);
        RequireCovered(call, uint64_t{tiling.loopRound} * tiling.oneTmpSize + tiling.inputTailSize,
                       uint64_t{para.aLength} * para.rLengthWithPadding);
    }
}

/* Bytes of temporary memory that the tiling addresses. */
inline uint64_t TemporaryOf(const LayerNormConfig &config, const LayerNormPara &para,
                            const LayerNormSeparateTiling &tiling)
{
    if (Core::Current().chip.RegBase()) {
        constexpr uint64_t in_register = 64; /* floats of a vector register */
        const uint64_t folded = RoundUp(para.rLength, in_register) / in_register;
        return (RoundUp(folded, 2 * in_register) + para.aLength * (config.isOutputRstd ? 1U : 2U)) *
               sizeof(float);
    }
    return (tiling.firstTmpStartPos + 2 * uint64_t{tiling.oneTmpSize}) * sizeof(float);
}

template <typename U, typename T> struct LayerNormRstdOperands {
    Operand<T> y;
    Operand<float> mean, rstd;
    Operand<T> x;
    Operand<U> gamma, beta;

    void Check(const LayerNormPara &para, const LayerNormConfig &config)
    {
        const uint64_t all = uint64_t{para.aLength} * para.rLengthWithPadding;
        y.InVectorMemory().Aligned().Holds(all);
        x.InVectorMemory().Aligned().Holds(all);
        mean.InVectorMemory().Aligned().Holds(para.aLength);
        rstd.InVectorMemory().Aligned().Holds(para.aLength);
        RequireApart(y, x);
        RequireApart(mean, rstd);
        for (const Operand<float> *out : {&mean, &rstd}) {
            RequireApart(*out, y);
            RequireApart(*out, x);
        }
        if (!config.isNoGamma) {
            CheckParameter(gamma, para);
        }
        if (!config.isNoBeta) {
            CheckParameter(beta, para);
        }
    }

    void CheckParameter(Operand<U> &parameter, const LayerNormPara &para)
    {
        parameter.InVectorMemory().Aligned().Holds(para.rLengthWithPadding);
        RequireApart(y, parameter);
    }
};

template <typename U, typename T>
void NormalizeRows(const LayerNormRstdOperands<U, T> &o, float epsilon,
                   const LayerNormConfig &config, const LayerNormPara &para,
                   const LayerNormSeparateTiling &tiling)
{
    const uint32_t r = para.rLength, width = para.rLengthWithPadding;
    const bool folds = Core::Current().chip.RegBase();
    std::vector<float> gamma, beta;
    if (!config.isNoGamma) {
        gamma = Floats(o.gamma, 0, width);
    }
    if (!config.isNoBeta) {
        beta = Floats(o.beta, 0, width);
    }
    for (uint64_t row = 0; row < para.aLength; row++) {
        const uint64_t first = row * width;
        std::vector<float> x = Floats(o.x, first, width);
        for (uint32_t i = r; i < width; i++) {
            x[i] *= 0.0F; /* a NaN in the padding stays one */
            o.x.Store(first + i, static_cast<T>(x[i]));
        }
        const Moments of = folds ? MomentsOf(x, r, tiling.k2Rec, tiling.k2RRec)
                                 : MomentsOf(x, r, tiling.rValueBack, 1.0F);
        const float rstd = 1.0F / std::sqrt(of.variance + epsilon);
        Put(o.y, first, Normalized(x, of.mean, rstd, config.isNoGamma ? nullptr : gamma.data(),
                                   config.isNoBeta ? nullptr : beta.data()));
        o.mean.Store(row, of.mean);
        o.rstd.Store(row, config.isOutputRstd ? rstd : of.variance);
    }
}

}  // namespace emulation
}  // namespace AscendC
