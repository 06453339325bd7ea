/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tilings of Pad and UnPad, computed by the host. The kernel reads the shape alone; for temporary
 * memory they ask for the rows in whole blocks of 32 bytes, and CANN may ask for another size.
 */
#pragma once

#include "kernel_tiling/kernel_tiling.h"
#include "tiling/platform/platform_ascendc.h"
#include "tiling/shape.h"

namespace AscendC {

inline void GetPadMaxMinTmpSize(const ge::Shape &srcShape, const uint32_t typeSize,
                                uint32_t &maxValue, uint32_t &minValue)
{
    const auto width = static_cast<uint32_t>(srcShape.GetDim(1));
    maxValue = minValue = static_cast<uint32_t>(srcShape.GetDim(0)) *
                          ((width * typeSize + 31) / 32 * 32);
}

inline void GetUnPadMaxMinTmpSize(const platform_ascendc::PlatformAscendC &,
                                  const ge::Shape &srcShape, const uint32_t typeSize,
                                  uint32_t &maxValue, uint32_t &minValue)
{
    GetPadMaxMinTmpSize(srcShape, typeSize, maxValue, minValue);
}

inline void UnPadTilingFunc(const ge::Shape srcShape, const uint32_t, const uint32_t,
                            ::UnPadTiling &tiling)
{
    tiling.srcHeight = static_cast<uint32_t>(srcShape.GetDim(0));
    tiling.srcWidth = static_cast<uint32_t>(srcShape.GetDim(1));
}

inline void PadTilingFunc(const ge::Shape srcShape, const ge::Shape oriSrcShape, const uint32_t,
                          const uint32_t, ::PadTiling &tiling)
{
    tiling.srcHeight = static_cast<uint32_t>(srcShape.GetDim(0));
    tiling.srcWidth = static_cast<uint32_t>(srcShape.GetDim(1));
    tiling.srcOriWidth = static_cast<uint32_t>(oriSrcShape.GetDim(1));
}

}  // namespace AscendC
