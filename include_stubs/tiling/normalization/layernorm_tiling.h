/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tilings of LayerNorm, its gradients and temporary memory of RmsNorm, computed by the host as CANN
 * computes them; pyaclnn.ascendc.tiling has the same in Python, with messages for what is refused.
 * A shape without elements, and a buffer without room for one row, leave the structure as it was.
 */
#pragma once

#include <algorithm>
#include <cstring>

#include "kernel_tiling/kernel_tiling.h"
#include "tiling/shape.h"

namespace AscendC {
namespace emulation {

inline constexpr bool kRegisters = PYACLNN_FAMILY == 2; /* Ascend 950 */

inline uint32_t UpTo(uint32_t value, uint32_t multiple)
{
    return (value + multiple - 1) / multiple * multiple;
}

inline uint32_t BitsOf(float value)
{
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Rows of B and S, elements of H that are stored, and those of them that are no padding. */
struct NormShape {
    uint32_t b, s, h, origin, rows, all;

    explicit NormShape(const ge::Shape &shape)
        : b(Length(shape, 0)), s(Length(shape, 1)), h(Length(shape, 2)), origin(Length(shape, 3)),
          rows(b * s), all(rows * h)
    {
    }
    static uint32_t Length(const ge::Shape &shape, size_t axis)
    {
        return static_cast<uint32_t>(shape.GetDim(axis));
    }
    template <typename Tiling> void To(Tiling &tiling) const
    {
        tiling.bLength = b;
        tiling.sLength = s;
        tiling.hLength = h;
        tiling.originalHLength = origin;
    }
};

/* Rows of A, elements of R, and with the padding to whole blocks. */
struct SeparateShape {
    uint32_t a, r, padded, all;

    SeparateShape(const ge::Shape &shape, uint32_t typeSize)
        : a(NormShape::Length(shape, 0)), r(NormShape::Length(shape, 1)),
          padded(UpTo(r, 32 / typeSize)), all(a * padded)
    {
    }
};

inline uint32_t LayerNormBuffers(uint32_t typeSize, bool reuse)
{
    return reuse && typeSize == 4 ? 2 : 3;
}

inline uint32_t LayerNormGradBuffers(uint32_t typeSize, bool reuse)
{
    return typeSize == 2 ? 9 : reuse ? 4 : 6;
}

}  // namespace emulation

inline void GetLayerNormMaxMinTmpSize(const ge::Shape &srcShape, const uint32_t typeSize,
                                      const bool isReuseSource, uint32_t &maxValue,
                                      uint32_t &minValue)
{
    const emulation::NormShape shape(srcShape);
    const uint32_t buffers = emulation::LayerNormBuffers(typeSize, isReuseSource);
    const uint32_t statistics = 2 * emulation::UpTo(shape.rows * 4, 32);
    maxValue = buffers * emulation::UpTo(shape.all * 4, 32) + statistics;
    minValue = buffers * emulation::UpTo(shape.h * 4, 32) + statistics;
}

inline void GetLayerNormNDTilingInfo(const ge::Shape &srcShape, const uint32_t stackBufferSize,
                                     const uint32_t typeSize, const bool isReuseSource,
                                     ::LayerNormTiling &tiling)
{
    const emulation::NormShape shape(srcShape);
    const uint32_t buffers = emulation::LayerNormBuffers(typeSize, isReuseSource);
    const uint32_t statistic = emulation::UpTo(shape.rows, 8);
    const uint32_t statistics = typeSize == 2 ? 2 * statistic : 0, floats = stackBufferSize / 4;
    if (shape.all == 0 || floats < statistics || (floats - statistics) / buffers < shape.h) {
        return;
    }
    ::LayerNormTiling &t = tiling;
    t = {};
    shape.To(t);
    t.oneTmpSize = std::min((floats - statistics) / buffers / shape.h * shape.h, shape.all);
    t.inputXSize = shape.all;
    t.meanVarSize = shape.rows;
    t.numberOfTmpBuf = buffers;
    t.meanTmpTensorSize = t.varianceTmpTensorPos = t.varianceTmpTensorSize = statistic;
    t.tmpBufSize = floats;
    t.firstTmpStartPos = statistics;
    t.secondTmpStartPos = statistics + t.oneTmpSize;
    t.thirdTmpStartPos = statistics + 2 * t.oneTmpSize;
    t.loopRound = shape.all / t.oneTmpSize;
    t.inputRoundSize = t.bshCurLength = t.oneTmpSize;
    t.inputTailSize = shape.all % t.oneTmpSize;
    t.inputTailPos = shape.all - t.inputTailSize;
    t.meanVarRoundSize = t.bsCurLength = t.oneTmpSize / shape.h;
    t.meanVarTailSize = t.inputTailSize / shape.h;
    t.meanVarTailPos = shape.rows - t.meanVarTailSize;
    t.lastDimValueBack = 1.0F / static_cast<float>(shape.origin);
}

/* The name that older code has. */
inline void GetLayerNormNDTillingInfo(const ge::Shape &srcShape, const uint32_t stackBufferSize,
                                      const uint32_t typeSize, const bool isReuseSource,
                                      ::LayerNormTiling &tiling)
{
    GetLayerNormNDTilingInfo(srcShape, stackBufferSize, typeSize, isReuseSource, tiling);
}

inline void GetLayerNormMaxMinTmpSize(const ge::Shape &srcShape, const uint32_t typeSize, bool,
                                      const bool isComputeRstd, bool, uint32_t &maxValue,
                                      uint32_t &minValue)
{
    using emulation::UpTo;
    const emulation::SeparateShape shape(srcShape, typeSize);
    if constexpr (emulation::kRegisters) {
        const uint32_t sums = UpTo(UpTo(shape.r, 64) / 64, 128);
        maxValue = minValue = (sums + (isComputeRstd ? 1 : 2) * shape.a) * 4;
        return;
    }
    const uint32_t statistics = UpTo(shape.a * 4, 32), row = UpTo(shape.padded * 4, 32);
    maxValue = std::max(2 * UpTo(shape.all * 4, 32),
                        2 * row + 2 * UpTo(UpTo(shape.a, 8) * shape.padded * 4, 32)) +
               statistics;
    minValue = std::max({2 * row, statistics, (typeSize == 4 ? 2 : 4) * row}) + statistics;
}

inline void GetLayerNormNDTilingInfo(const ge::Shape &srcShape, const uint32_t stackBufferSize,
                                     const uint32_t typeSize, bool, bool,
                                     ::LayerNormSeparateTiling &tiling)
{
    const emulation::SeparateShape shape(srcShape, typeSize);
    ::LayerNormSeparateTiling &t = tiling;
    if constexpr (emulation::kRegisters) {
        t = {};
        t.rHeadLength = 64;
        for (t.oneTmpSize = 6; 2 * t.rHeadLength <= shape.r; t.oneTmpSize++) {
            t.rHeadLength *= 2;
        }
        const uint32_t power = t.rHeadLength >= shape.r ? t.rHeadLength : 2 * t.rHeadLength;
        t.k2Rec = 1.0F / static_cast<float>(power);
        t.k2RRec = static_cast<float>(power) / static_cast<float>(shape.r);
        t.aLength = shape.a;
        t.rLength = shape.r;
        return;
    }
    const uint32_t variance = emulation::UpTo(shape.a, 8), floats = stackBufferSize / 4;
    if (shape.all == 0 || floats < variance || (floats - variance) / 2 < shape.padded) {
        return;
    }
    t = {};
    t.aLength = shape.a;
    t.rLength = shape.r;
    t.oneTmpSize = std::min((floats - variance) / 2 / shape.padded * shape.padded, shape.all);
    t.inputXSize = shape.all;
    t.meanVarSize = shape.a;
    t.numberOfTmpBuf = 2;
    t.varianceTmpTensorSize = t.firstTmpStartPos = variance;
    t.tmpBufSize = floats;
    t.secondTmpStartPos = variance + t.oneTmpSize;
    t.loopRound = shape.all / t.oneTmpSize;
    t.inputRoundSize = t.arCurLength = t.oneTmpSize;
    t.inputTailSize = shape.all % t.oneTmpSize;
    t.inputTailPos = shape.all - t.inputTailSize;
    t.meanVarRoundSize = t.aCurLength = t.oneTmpSize / shape.padded;
    t.meanVarTailSize = t.inputTailSize / shape.padded;
    t.meanVarTailPos = shape.a - t.meanVarTailSize;
    t.rValueBack = 1.0F / static_cast<float>(shape.r);
}

inline void GetLayerNormGradMaxMinTmpSize(const ge::Shape &srcShape, const uint32_t typeSize,
                                          const bool isReuseSource, uint32_t &maxValue,
                                          uint32_t &minValue)
{
    const emulation::NormShape shape(srcShape);
    if constexpr (emulation::kRegisters) {
        maxValue = minValue =
            isReuseSource && typeSize == 4 ? 0 : 2 * emulation::UpTo(shape.h, 8) * 4;
        return;
    }
    const uint32_t bytes = emulation::LayerNormGradBuffers(typeSize, isReuseSource) * typeSize;
    maxValue = bytes * std::max(shape.all, shape.h * shape.h);
    minValue = bytes * std::min(shape.all, shape.h * shape.h);
}

inline void GetLayerNormGradNDTilingInfo(const ge::Shape srcShape, const uint32_t stackBufferSize,
                                         const uint32_t typeSize, const bool isReuseSource,
                                         ::LayerNormGradTiling &tiling)
{
    const emulation::NormShape shape(srcShape);
    const bool half = typeSize == 2, reuse = isReuseSource && !half;
    const uint32_t buffers = emulation::LayerNormGradBuffers(typeSize, isReuseSource);
    const uint32_t fitting = shape.all == 0 ? 0 : stackBufferSize / 4 / buffers / shape.h;
    if (shape.all == 0 || (!emulation::kRegisters && fitting == 0)) {
        return;
    }
    const uint32_t rows = emulation::kRegisters ? 1 : emulation::UpTo(fitting, half ? 16 : 8);
    const uint32_t one = emulation::kRegisters ? 1 : rows * shape.h;
    ::LayerNormGradTiling &t = tiling;
    t = {};
    shape.To(t);
    t.stackBufferSize = stackBufferSize / 4;
    t.oneCalSize = one;
    t.nohCalSize = rows;
    t.loopNum = shape.all / one;
    t.tailSize = shape.all % one;
    t.nohTailSize = t.tailSize / shape.h;
    t.tmpTensorBSHSize = t.pdVarTensorSize = t.pdMeanTensorSize = one;
    t.x1TensorSize = t.x2TensorSize = t.x3TensorSize = one;
    t.tmpTensorSize = t.tmpTensor1Size = t.tmpTensor2Size = one;
    t.pdVarTensorPos = one;
    t.pdMeanTensorPos = 2 * one;
    t.x1TensorPos = reuse ? 0 : 3 * one;
    t.x2TensorPos = reuse ? 0 : 4 * one;
    t.x3TensorPos = (reuse ? 3 : 5) * one;
    t.tmpTensorPos = half ? 6 * one : 0;
    t.tmpTensor1Pos = half ? 7 * one : 0;
    t.tmpTensor2Pos = half ? 8 * one : 0;
    t.lastDimValueBack = emulation::BitsOf(1.0F / static_cast<float>(shape.origin));
    t.lastDimValueBackMulTwo = emulation::BitsOf(2.0F * (1.0F / static_cast<float>(shape.origin)));
}

inline void GetLayerNormGradBetaMaxMinTmpSize(const ge::Shape &srcShape, const uint32_t typeSize,
                                              bool, uint32_t &maxValue, uint32_t &minValue)
{
    const emulation::NormShape shape(srcShape);
    const uint32_t bytes = (typeSize == 2 ? 4 : 2) * 4;
    maxValue = bytes * shape.all;
    minValue = bytes * shape.h;
}

inline void GetLayerNormGradBetaNDTilingInfo(const ge::Shape srcShape,
                                             const uint32_t stackBufferSize,
                                             const uint32_t typeSize, bool,
                                             ::LayerNormGradBetaTiling &tiling)
{
    const emulation::NormShape shape(srcShape);
    const bool half = typeSize == 2;
    const uint32_t sums = 2 * shape.h, floats = stackBufferSize / 4;
    const uint32_t room = floats < sums ? 0 : half ? (floats - sums) / 2 : floats;
    const uint32_t one = shape.all == 0 ? 0 : std::min(room / shape.h * shape.h, shape.all);
    if (one == 0) {
        return;
    }
    ::LayerNormGradBetaTiling &t = tiling;
    t = {};
    shape.To(t);
    t.stackBufferSize = floats;
    t.bshLength = shape.all;
    t.bsLength = shape.rows;
    t.oneCalSize = t.bshCurLength = one;
    t.numberOfTmpBuf = half ? 2 : 1;
    t.loopRound = shape.all / one;
    t.inputTailSize = shape.all % one;
    t.inputTailPos = shape.all - t.inputTailSize;
    t.bsTailSize = t.inputTailSize / shape.h;
    t.bsCurLength = one / shape.h;
    t.betaTempTensorPos = half ? shape.h : 0;
    t.inputDyTmpTensorPos = half ? sums : 0;
    t.resForGammaTmpTensorPos = half ? sums + one : 0;
}

inline bool GetRmsNormMaxMinTmpSize(const ge::Shape &srcShape, const uint32_t typeSize,
                                    uint32_t &maxValue, uint32_t &minValue, bool = false)
{
    const emulation::NormShape shape(srcShape);
    const uint32_t rows = typeSize == 2 ? 2 : 1;
    maxValue = (shape.all * rows + emulation::UpTo(shape.rows, 8)) * 4;
    minValue = (shape.h * rows + 8) * 4;
    return true;
}

}  // namespace AscendC
