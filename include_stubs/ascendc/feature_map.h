/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feature maps for the matrix unit: each place of a filter becomes a row of a matrix, which has
 * the values that the filter covers there: by blocks of channels, rows and columns of the filter.
 */
#pragma once

#include "ascendc/matrix.h"

namespace AscendC {

/* The map lies as blocks of 32 bytes of channels, each with its rows; lengths are in elements. */
struct LoadData3DFields {
    uint8_t padList[4] = {0, 0, 0, 0}; /* left, right, top, bottom */
    uint16_t l1H = 0, l1W = 0, channelSize = 0;
    uint16_t kExtension = 0, mExtension = 0, kStartPt = 0, mStartPt = 0;
    uint8_t strideW = 1, strideH = 1, filterW = 1, filterH = 1;
    uint8_t dilationFilterW = 1, dilationFilterH = 1;
    bool enTranspose = false, enSmallK = false;
};
template <typename T> struct LoadData3DParamsV2 : LoadData3DFields {
    T padValue = T(0.0F);
    bool filterSizeW = false, filterSizeH = false, fMatrixCtrl = false;
};

namespace emulation {

/* A part of the matrix, from row mStartPt and column kStartPt on, into an operand. */
template <typename T> class Unfolded {
 public:
    Unfolded(const Call &call, const Operand<T> &map, const LoadData3DParamsV2<T> &p)
        : map_(map), p_(p)
    {
        if (p.strideW == 0 || p.strideH == 0 || p.filterW == 0 || p.filterH == 0 ||
            p.dilationFilterW == 0 || p.dilationFilterH == 0) {
            call.Fail(rule::Bounds,
                      "strides, lengths of the filter and dilations must be positive");
        }
        const int64_t wide = Places(p.l1W, p.padList[0] + p.padList[1], p.filterW,
                                    p.dilationFilterW, p.strideW);
        const int64_t high = Places(p.l1H, p.padList[2] + p.padList[3], p.filterH,
                                    p.dilationFilterH, p.strideH);
        across_ = static_cast<uint64_t>(std::max<int64_t>(wide, 0));
        rows_ = across_ * static_cast<uint64_t>(std::max<int64_t>(high, 0));
        const uint64_t columns =
            AlignUp(uint64_t{p.channelSize}, kRow<T>) * p.filterW * p.filterH;
        if (p.mStartPt >= rows_ || uint64_t{p.kStartPt} + p.kExtension > columns) {
            call.Fail(rule::Bounds, Text("the matrix has %llu rows and %llu columns; from row "
                                         "mStartPt %u and column kStartPt %u on there are not "
                                         "kExtension %u columns",
                                         static_cast<unsigned long long>(rows_),
                                         static_cast<unsigned long long>(columns), p.mStartPt,
                                         p.kStartPt, p.kExtension));
        }
    }

    T Load(uint64_t row, uint64_t column) const
    {
        row += p_.mStartPt;
        column += p_.kStartPt;
        if (row >= rows_) {
            return T(0.0F); /* behind the last place of the filter */
        }
        const uint64_t taps = uint64_t{p_.filterW} * p_.filterH, width = kRow<T>;
        const uint64_t tap = column / width % taps;
        const auto y = static_cast<int64_t>(row / across_ * p_.strideH +
                                            tap / p_.filterW * p_.dilationFilterH) -
                       p_.padList[2];
        const auto x = static_cast<int64_t>(row % across_ * p_.strideW +
                                            tap % p_.filterW * p_.dilationFilterW) -
                       p_.padList[0];
        if (x < 0 || y < 0 || x >= p_.l1W || y >= p_.l1H) {
            return p_.padValue;
        }
        const uint64_t place = (column / width / taps * p_.l1H + static_cast<uint64_t>(y)) *
                                   p_.l1W + static_cast<uint64_t>(x);
        return map_.Load(place * width + column % width);
    }

 private:
    static int64_t Places(int64_t length, int64_t pads, int64_t filter, int64_t dilation,
                          int64_t stride)
    {
        const int64_t room = length + pads - (filter - 1) * dilation - 1;
        return room < 0 ? 0 : room / stride + 1;
    }

    const Operand<T> &map_;
    const LoadData3DParamsV2<T> &p_;
    uint64_t across_ = 0, rows_ = 0;
};

}  // namespace emulation

/* Rows of fractals for operand A, columns of them for operand B. */
template <typename T>
void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData3DParamsV2<T> &p,
              emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("LoadData", site);
    const bool b = dst.GetPosition() == TPosition::B2;
    if (p.enTranspose || (b && sizeof(T) != 2)) {
        call.Fail(emulation::rule::Dtype,
                  "enTranspose, and elements other than 16 bits for B2, are not simulated: use "
                  "LoadDataWithTranspose");
    }
    const emulation::Operand<T> to(call, "dst", dst, PIPE_MTE1), from(call, "src", src, PIPE_MTE1);
    const emulation::Unfolded<T> matrix(call, from, p);
    constexpr uint64_t width = emulation::kRow<T>;
    const uint64_t across = DivCeil(uint64_t{p.kExtension}, width);
    for (uint64_t row = 0; row < AlignUp(uint64_t{p.mExtension}, 16); row++) {
        for (uint64_t column = 0; column < p.kExtension; column++) {
            const uint64_t fractal = row / 16 * across + column / width;
            const uint64_t inside = b ? column % width * 16 + row % 16
                                      : row % 16 * width + column % width;
            to.Store(fractal * emulation::kFractal<T> + inside, matrix.Load(row, column));
        }
    }
}

}  // namespace AscendC
