/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tilings of SoftMax and its like, computed by the host. A row needs its elements and a block of 32
 * bytes, all of them float; CANN may ask for other sizes, and divide the rows otherwise.
 */
#pragma once

#include <algorithm>

#include "tiling/shape.h"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC {
namespace emulation {

struct SoftMaxSizes {
    uint32_t rows, length;

    explicit SoftMaxSizes(const ge::Shape &shape)
        : rows(0), length(static_cast<uint32_t>(
                       shape.GetDimNum() == 0 ? 0 : shape.GetDim(shape.GetDimNum() - 1)))
    {
        rows = length == 0 ? 0 : static_cast<uint32_t>(shape.GetShapeSize()) / length;
    }
    uint32_t BytesOfRow() const { return length * 4 + 32; }

    /* Steps of as many rows as the memory has room for; results have a block a row. */
    template <typename Tiling> void Divide(uint32_t bytes, uint32_t typeSize, Tiling &t) const
    {
        t.srcM = t.outMaxM = rows;
        t.srcK = t.splitK = length;
        t.srcSize = rows * length;
        t.outMaxK = typeSize == 0 ? 0 : 32 / typeSize;
        t.outMaxSize = rows * t.outMaxK;
        t.splitM = t.reduceM = std::min(rows, bytes / BytesOfRow());
        t.splitSize = t.splitM * length;
        t.reduceK = 8;
        t.reduceSize = t.reduceM * t.reduceK;
        t.rangeM = t.splitM == 0 ? 0 : rows / t.splitM;
        t.tailM = t.splitM == 0 ? rows : rows % t.splitM;
        t.tailSplitSize = t.tailM * length;
        t.tailReduceSize = t.tailM * t.reduceK;
    }
};

}  // namespace emulation

/* Name; the structure; sizes of elements; what else decides, which changes no size here. */
#define ASCENDC_SOFTMAX_TILING(Name, Tiling, types, flags)                                         \
    inline uint32_t Get##Name##MinTmpSize(const ge::Shape &srcShape, ASCENDC_TILING_LIST types,    \
                                          ASCENDC_TILING_LIST flags)                               \
    {                                                                                              \
        return emulation::SoftMaxSizes(srcShape).BytesOfRow();                                     \
    }                                                                                              \
    inline uint32_t Get##Name##MaxTmpSize(const ge::Shape &srcShape, ASCENDC_TILING_LIST types,    \
                                          ASCENDC_TILING_LIST flags)                               \
    {                                                                                              \
        const emulation::SoftMaxSizes sizes(srcShape);                                             \
        return sizes.rows * sizes.BytesOfRow();                                                    \
    }                                                                                              \
    inline void Name##TilingFunc(const ge::Shape &srcShape, ASCENDC_TILING_LIST types,             \
                                 uint32_t localWorkSpaceSize, ::Tiling &tiling, bool = false,      \
                                 bool = false, bool = false)                                       \
    {                                                                                              \
        emulation::SoftMaxSizes(srcShape).Divide(localWorkSpaceSize, typeSize, tiling);            \
    }
#define ASCENDC_TILING_LIST(...) __VA_ARGS__
#define ASCENDC_TILING_TYPE [[maybe_unused]] uint32_t typeSize
ASCENDC_SOFTMAX_TILING(SoftMax, SoftMaxTiling, (ASCENDC_TILING_TYPE), (bool))
ASCENDC_SOFTMAX_TILING(LogSoftMax, LogSoftMaxTiling, (ASCENDC_TILING_TYPE), (bool))
ASCENDC_SOFTMAX_TILING(SoftMaxFlash, SoftMaxTiling, (ASCENDC_TILING_TYPE), (bool, bool = false))
ASCENDC_SOFTMAX_TILING(SoftMaxFlashV2, SoftMaxTiling, (uint32_t, ASCENDC_TILING_TYPE),
                       (bool, bool = false, bool = false))
ASCENDC_SOFTMAX_TILING(SoftMaxGrad, SoftMaxTiling, (ASCENDC_TILING_TYPE), (bool, bool = false))
#undef ASCENDC_TILING_TYPE
#undef ASCENDC_TILING_LIST
#undef ASCENDC_SOFTMAX_TILING

}  // namespace AscendC
