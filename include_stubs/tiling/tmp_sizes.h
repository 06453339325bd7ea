/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Temporary memory of functions whose emulation needs none: a repeat of the vector unit at least,
 * all elements as float at most. CANN asks for other sizes.
 */
#pragma once

#include <algorithm>

#include "kernel_tiling/kernel_tiling.h"
#include "tiling/platform/platform_ascendc.h"
#include "tiling/shape.h"

namespace AscendC {
namespace emulation {

inline void TmpSizes(int64_t elements, uint32_t &maxValue, uint32_t &minValue)
{
    minValue = 256;
    maxValue = std::max(minValue, static_cast<uint32_t>((elements * 4 + 31) / 32 * 32));
}

}  // namespace emulation

/* Name; its parameters behind the shape. */
#define ASCENDC_TMP_SIZE(Name, parameters)                                                         \
    inline void Get##Name##TmpSize(const ge::Shape &srcShape, ASCENDC_TMP_LIST parameters)         \
    {                                                                                              \
        emulation::TmpSizes(srcShape.GetShapeSize(), maxValue, minValue);                          \
    }
#define ASCENDC_TMP_LIST(...) __VA_ARGS__
#define ASCENDC_TMP_OUT uint32_t &maxValue, uint32_t &minValue
#define ASCENDC_TMP_UNARY(Name)                                                                    \
    ASCENDC_TMP_SIZE(Name, (const uint32_t, const bool, ASCENDC_TMP_OUT))
#define ASCENDC_TMP_PLAIN(Name) ASCENDC_TMP_SIZE(Name, (const uint32_t, ASCENDC_TMP_OUT))
ASCENDC_TMP_UNARY(AcosMaxMin)
ASCENDC_TMP_UNARY(AcoshMaxMin)
ASCENDC_TMP_UNARY(AsinMaxMin)
ASCENDC_TMP_UNARY(AsinhMaxMin)
ASCENDC_TMP_UNARY(AtanMaxMin)
ASCENDC_TMP_UNARY(AtanhMaxMin)
ASCENDC_TMP_UNARY(AxpyMaxMin)
ASCENDC_TMP_UNARY(CeilMaxMin)
ASCENDC_TMP_UNARY(ClampMaxMin)
ASCENDC_TMP_UNARY(CosMaxMin)
ASCENDC_TMP_UNARY(CoshMaxMin)
ASCENDC_TMP_UNARY(DigammaMaxMin)
ASCENDC_TMP_UNARY(DropOutMaxMin)
ASCENDC_TMP_UNARY(ErfMaxMin)
ASCENDC_TMP_UNARY(ErfcMaxMin)
ASCENDC_TMP_UNARY(FloorMaxMin)
ASCENDC_TMP_UNARY(FmodMaxMin)
ASCENDC_TMP_UNARY(FracMaxMin)
ASCENDC_TMP_UNARY(GeGLUMaxMin)
ASCENDC_TMP_UNARY(LgammaMaxMin)
ASCENDC_TMP_UNARY(LogMaxMin)
ASCENDC_TMP_UNARY(ReGluMaxMin)
ASCENDC_TMP_UNARY(RoundMaxMin)
ASCENDC_TMP_UNARY(SigmoidMaxMin)
ASCENDC_TMP_UNARY(SignMaxMin)
ASCENDC_TMP_UNARY(Silu)
ASCENDC_TMP_UNARY(SinMaxMin)
ASCENDC_TMP_UNARY(SinhMaxMin)
ASCENDC_TMP_UNARY(Swish)
ASCENDC_TMP_UNARY(TanMaxMin)
ASCENDC_TMP_UNARY(TanhMaxMin)
ASCENDC_TMP_UNARY(TruncMaxMin)
ASCENDC_TMP_UNARY(XorMaxMin)
ASCENDC_TMP_PLAIN(AscendDequantMaxMin)
ASCENDC_TMP_PLAIN(AscendQuantMaxMin)
ASCENDC_TMP_PLAIN(GeluMaxMin)
ASCENDC_TMP_SIZE(CumSumMaxMin, (const uint32_t, const bool, const bool, ASCENDC_TMP_OUT))
ASCENDC_TMP_SIZE(PowerMaxMin,
                 (const ge::Shape &, const bool, const uint32_t, const bool, ASCENDC_TMP_OUT))
ASCENDC_TMP_SIZE(SwiGLUMaxMin, (const uint32_t, ASCENDC_TMP_OUT, const bool))
#undef ASCENDC_TMP_PLAIN
#undef ASCENDC_TMP_UNARY
#undef ASCENDC_TMP_OUT
#undef ASCENDC_TMP_LIST
#undef ASCENDC_TMP_SIZE

inline void GetBroadCastMaxMinTmpSize(const platform_ascendc::PlatformAscendC &,
                                      const ge::Shape &, const ge::Shape &dstShape,
                                      const uint32_t, const bool, uint32_t &maxValue,
                                      uint32_t &minValue)
{
    emulation::TmpSizes(dstShape.GetShapeSize(), maxValue, minValue);
}

inline void GetSumMaxMinTmpSize(const uint32_t n, const uint32_t, const bool, uint32_t &maxValue,
                                uint32_t &minValue)
{
    emulation::TmpSizes(n, maxValue, minValue);
}

inline void GetMeanMaxMinTmpSize(const uint32_t n, const uint32_t, const uint32_t, const bool,
                                 uint32_t &maxValue, uint32_t &minValue)
{
    emulation::TmpSizes(n, maxValue, minValue);
}

/* Values and indices, 8 bytes each. */
inline uint32_t GetSortTmpSize(const platform_ascendc::PlatformAscendC &, const uint32_t elemCount,
                               const uint32_t)
{
    return elemCount * 8;
}

inline uint32_t GetConcatTmpSize(const platform_ascendc::PlatformAscendC &,
                                 const uint32_t elemCount, const uint32_t)
{
    return elemCount * 8;
}

inline bool GetTopKMaxMinTmpSize(const platform_ascendc::PlatformAscendC &, const int32_t inner,
                                 const int32_t outter, const bool, const bool, TopKMode,
                                 const bool, const uint32_t, uint32_t &maxValue,
                                 uint32_t &minValue)
{
    emulation::TmpSizes(int64_t{2} * inner * outter, maxValue, minValue);
    return true;
}

/* Nothing that the emulation computes by. */
inline bool TopKTilingFunc(const platform_ascendc::PlatformAscendC &, const int32_t, const int32_t,
                           const int32_t, const uint32_t, const bool, TopKMode, const bool,
                           ::TopkTiling &)
{
    return true;
}

}  // namespace AscendC
