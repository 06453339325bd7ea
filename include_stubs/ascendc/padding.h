/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pad and UnPad: rows that are widened to blocks of 32 bytes, or lose their last columns.
 */
#pragma once

#include "ascendc/arithmetic.h"
#include "kernel_tiling/kernel_tiling.h"

namespace AscendC {

struct PadFields {
    uint16_t leftPad = 0, rightPad = 0;
    int32_t padValue = 0;
};
using PadParams = emulation::Params<PadFields, uint16_t, uint16_t, int32_t>;
struct UnPadFields {
    uint16_t leftPad = 0, rightPad = 0;
};
using UnPadParams = emulation::Params<UnPadFields, uint16_t, uint16_t>;

namespace emulation {

/* Copies the first columns of rows that lie `from_width` elements apart to others that lie
 * `to_width` apart, and fills these. */
template <typename T>
void CopyColumns(const Call &call, const LocalTensor<T> &dst, uint64_t to_width,
                 const LocalTensor<T> &src, uint64_t from_width, uint64_t rows, uint64_t columns,
                 T fill)
{
    RequireType<T, half, float, int16_t, uint16_t, int32_t, uint32_t>(call);
    const Walker<T> to(call, "dst", dst), from(call, "src", src);
    for (uint64_t row = 0; row < rows; row++) {
        for (uint64_t i = 0; i < columns; i++) {
            Move(to.operand, row * to_width + i, from.operand, row * from_width + i);
        }
        for (uint64_t i = columns; i < to_width; i++) {
            to.operand.Store(row * to_width + i, fill);
        }
    }
}

/* CANN takes no columns on the left into account. */
inline void RequireRight(const Call &call, uint16_t left, uint64_t right, uint64_t expected)
{
    if (left != 0 || right != expected) {
        call.Fail(rule::Bounds,
                  Text("leftPad is %u and rightPad %llu; they must be 0 and %llu, with which the "
                       "wider rows are whole blocks of 32 bytes",
                       left, static_cast<unsigned long long>(right),
                       static_cast<unsigned long long>(expected)));
    }
}

template <typename T>
void PadRows(const Call &call, const LocalTensor<T> &dst, const LocalTensor<T> &src,
             const PadParams &params, const PadTiling &tiling)
{
    constexpr uint64_t block = BlockBytes / sizeof(T);
    const uint64_t width = AlignUp(uint64_t{tiling.srcWidth}, block);
    if (tiling.srcOriWidth == 0 || tiling.srcOriWidth > tiling.srcWidth) {
        call.Fail(rule::Tiling, "tiling",
                  Text("srcWidth is %u and srcOriWidth %u; the second must be positive, and no "
                       "more than the first",
                       tiling.srcWidth, tiling.srcOriWidth));
    }
    RequireRight(call, params.leftPad, params.rightPad, width - tiling.srcOriWidth);
    CopyColumns(call, dst, width, src, tiling.srcWidth, tiling.srcHeight, tiling.srcOriWidth,
                static_cast<T>(static_cast<float>(params.padValue)));
}

template <typename T>
void UnPadRows(const Call &call, const LocalTensor<T> &dst, const LocalTensor<T> &src,
               const UnPadParams &params, const UnPadTiling &tiling)
{
    const uint64_t bytes = tiling.srcWidth * sizeof(T);
    if (bytes == 0 || bytes % BlockBytes != 0 || params.leftPad != 0 ||
        params.rightPad >= tiling.srcWidth) {
        call.Fail(rule::Bounds,
                  Text("srcWidth is %u, leftPad %u and rightPad %u; the rows must be whole blocks "
                       "of 32 bytes, and lose some of their columns on the right",
                       tiling.srcWidth, params.leftPad, params.rightPad));
    }
    const uint64_t width = uint64_t{tiling.srcWidth} - params.rightPad;
    CopyColumns(call, dst, width, src, tiling.srcWidth, tiling.srcHeight, width, T());
}

}  // namespace emulation

/* With temporary memory or none. */
#define ASCENDC_PADDING(Name)                                                                      \
    template <typename T>                                                                          \
    void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const Name##Params &params,    \
              const Name##Tiling &tiling, emulation::Site site = emulation::Site::Here())          \
    {                                                                                              \
        emulation::Name##Rows(emulation::Call(#Name, site), dst, src, params, tiling);             \
    }                                                                                              \
    template <typename T>                                                                          \
    void Name(const LocalTensor<T> &dst, const LocalTensor<T> &src, const Name##Params &params,    \
              const LocalTensor<uint8_t> &sharedTmpBuffer, const Name##Tiling &tiling,             \
              emulation::Site site = emulation::Site::Here())                                      \
    {                                                                                              \
        emulation::Within(emulation::Call(#Name, site), sharedTmpBuffer, 0);                       \
        Name(dst, src, params, tiling, site);                                                      \
    }
ASCENDC_PADDING(Pad)
ASCENDC_PADDING(UnPad)
#undef ASCENDC_PADDING

}  // namespace AscendC
