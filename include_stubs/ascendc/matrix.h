/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The matrix unit: rows into fractals, fractals into its operands, the product, and its way out. A
 * fractal has 16 rows of 32 bytes; operand A has rows of fractals, B columns, and the result
 * columns of 16 elements.
 */
#pragma once

#include "ascendc/conversion.h"
#include "ascendc/copy.h"

namespace AscendC {

/* Strides of the source in elements, of the destination in blocks of 32 bytes. */
struct Nd2NzFields {
    uint16_t ndNum = 1, nValue = 0, dValue = 0, srcNdMatrixStride = 0, srcDValue = 0;
    uint16_t dstNzC0Stride = 0, dstNzNStride = 1, dstNzMatrixStride = 0;
};
using Nd2NzParams =
    emulation::Params<Nd2NzFields, uint16_t, uint16_t, uint16_t, uint16_t, uint16_t,
                      uint16_t, uint16_t, uint16_t>;

/* In fractals. */
struct LoadData2DFields {
    uint16_t startIndex = 0;
    uint8_t repeatTimes = 0;
    uint16_t srcStride = 0;
    uint8_t sid = 0;
    uint16_t dstGap = 0;
    bool ifTranspose = false;
    uint8_t addrMode = 0;
};
using LoadData2DParams =
    emulation::Params<LoadData2DFields, uint16_t, uint8_t, uint16_t, uint8_t,
                      uint16_t, bool, uint8_t>;

struct LoadData2dTransposeParams {
    LoadData2dTransposeParams() = default;
    LoadData2dTransposeParams(uint16_t startIndex, uint8_t repeatTimes, uint16_t srcStride,
                              uint16_t dstGap, uint16_t dstFracGap, uint8_t addrMode = 0)
        : startIndex(startIndex), repeatTimes(repeatTimes), srcStride(srcStride), dstGap(dstGap),
          dstFracGap(dstFracGap), addrMode(addrMode)
    {
    }

    uint16_t startIndex = 0;
    uint8_t repeatTimes = 0;
    uint16_t srcStride = 0, dstGap = 0, dstFracGap = 0;
    uint8_t addrMode = 0;
};

struct MmadParams {
    MmadParams() = default;
    MmadParams(uint16_t m, uint16_t n, uint16_t k, bool isBias = false)
        : m(m), n(n), k(k), isBias(isBias)
    {
    }
    MmadParams(uint16_t m, uint16_t n, uint16_t k, uint8_t unitFlag, bool cmatrixSource,
               bool cmatrixInitVal)
        : m(m), n(n), k(k), unitFlag(unitFlag), cmatrixSource(cmatrixSource),
          cmatrixInitVal(cmatrixInitVal)
    {
    }

    uint16_t m = 0, n = 0, k = 0;
    bool isBias = false; /* adds to what the result holds, as cmatrixInitVal = false */
    uint8_t unitFlag = 0;
    bool kDirectionAlign = false, cmatrixSource = false, cmatrixInitVal = true;
};

enum QuantMode_t : uint8_t {
    NoQuant = 0,
    F322F16,
    F322BF16,
    DEQF16,
    VDEQF16,
    QF322B8_PRE,
    VQF322B8_PRE,
    REQ8,
    VREQ8
};

enum class CO2Layout : uint8_t { NZ = 0, ROW_MAJOR, COLUMN_MAJOR };

struct FixpipeConfig {
    CO2Layout format;
};
inline constexpr FixpipeConfig CFG_NZ{CO2Layout::NZ}, CFG_ROW_MAJOR{CO2Layout::ROW_MAJOR};

/* Stride of the source in rows of 16 elements, of the destination in elements (NZ: 32 bytes). */
struct FixpipeParamsV220 {
    FixpipeParamsV220() = default;
    FixpipeParamsV220(uint16_t nSize, uint16_t mSize, uint16_t srcStride, uint32_t dstStride,
                      bool reluEn)
        : nSize(nSize), mSize(mSize), srcStride(srcStride), dstStride(dstStride), reluEn(reluEn)
    {
    }

    uint16_t nSize = 0, mSize = 0, srcStride = 0;
    uint32_t dstStride = 0;
    QuantMode_t quantPre = NoQuant;
    uint64_t deqScalar = 0;
    uint16_t ndNum = 1, srcNdStride = 0;
    uint32_t dstNdStride = 0;
    bool reluEn = false;
    uint8_t unitFlag = 0;
    bool isChannelSplit = false;
};

enum class BlockMode : uint8_t { BLOCK_MODE_NORMAL = 0, BLOCK_MODE_MATRIX, BLOCK_MODE_VECTOR };

struct DataCopyEnhancedParams {
    BlockMode blockMode = BlockMode::BLOCK_MODE_NORMAL;
};

namespace emulation {

template <typename T> constexpr uint64_t kRow = BlockBytes / sizeof(T); /* of a fractal */
template <typename T> constexpr uint64_t kFractal = 16 * kRow<T>;

constexpr bool ByVector(QuantMode_t mode)
{
    return mode == VDEQF16 || mode == VQF322B8_PRE || mode == VREQ8;
}

/* A result of the matrix unit on its way out: scaled, cut at zero, rounded. */
template <typename D, typename S>
D FixpipeValue(S value, QuantMode_t mode, uint64_t scale, bool relu)
{
    if constexpr (std::is_same_v<D, S> || (sizeof(D) >= 4 && std::is_integral_v<D>)) {
        return static_cast<D>(relu && value < S(0) ? S(0) : value);
    } else {
        auto wide = static_cast<float>(value);
        if (mode >= DEQF16) {
            wide *= BitCast<float>(static_cast<uint32_t>(scale));
        }
        return Converted<D>(relu && wide < 0 ? 0.0F : wide, RoundMode::CAST_RINT);
    }
}

}  // namespace emulation

/* Rows of global memory become columns of fractals. */
template <typename T>
void DataCopy(const LocalTensor<T> &dst, const GlobalTensor<T> &src, const Nd2NzParams &p,
              emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("DataCopy", site);
    const emulation::Operand<T> to(call, "dst", dst, PIPE_MTE2);
    constexpr uint64_t width = emulation::kRow<T>;
    for (uint64_t matrix = 0; matrix < p.ndNum; matrix++) {
        for (uint64_t row = 0; row < p.nValue; row++) {
            const uint64_t first = matrix * p.srcNdMatrixStride + row * p.srcDValue;
            const uint8_t *from =
                src.Read(call, "src", first * sizeof(T), uint64_t{p.dValue} * sizeof(T));
            for (uint64_t i = 0; i < AlignUp(uint64_t{p.dValue}, width); i++) {
                T value = T(0.0F); /* the last row of 32 bytes is filled up */
                if (i < p.dValue) {
                    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
                }
                const uint64_t block = i / width * p.dstNzC0Stride + row * p.dstNzNStride;
                to.Store(matrix * p.dstNzMatrixStride + block * width + i % width, value);
            }
        }
    }
}

/* Fractals, each transposed if asked for. */
template <typename T>
void LoadData(const LocalTensor<T> &dst, const LocalTensor<T> &src, const LoadData2DParams &p,
              emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("LoadData", site);
    if (p.ifTranspose && sizeof(T) != 2) {
        call.Fail(emulation::rule::Dtype, "ifTranspose is for elements of 16 bits: use "
                                          "LoadDataWithTranspose");
    }
    const emulation::Operand<T> to(call, "dst", dst, PIPE_MTE1), from(call, "src", src, PIPE_MTE1);
    constexpr uint64_t size = emulation::kFractal<T>;
    for (uint64_t repeat = 0; repeat < p.repeatTimes; repeat++) {
        const uint64_t first = (p.startIndex + repeat * p.srcStride) * size;
        const uint64_t target = repeat * (1U + p.dstGap) * size;
        for (uint64_t i = 0; i < size; i++) {
            emulation::Move(to, target + (p.ifTranspose ? i % 16 * 16 + i / 16 : i), from,
                            first + i);
        }
    }
}

/* Squares of fractals, as many rows as a row has elements. */
template <typename T>
void LoadDataWithTranspose(const LocalTensor<T> &dst, const LocalTensor<T> &src,
                           const LoadData2dTransposeParams &p,
                           emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("LoadDataWithTranspose", site);
    static_assert(sizeof(T) <= 2, "elements of 8 or 16 bits");
    const emulation::Operand<T> to(call, "dst", dst, PIPE_MTE1), from(call, "src", src, PIPE_MTE1);
    constexpr uint64_t width = emulation::kRow<T>, size = emulation::kFractal<T>;
    for (uint64_t repeat = 0; repeat < p.repeatTimes; repeat++) {
        const uint64_t first = (p.startIndex + repeat * p.srcStride) * width * width;
        for (uint64_t i = 0; i < width * width; i++) {
            const uint64_t row = i % width, column = i / width;
            emulation::Move(to,
                            (repeat * (1U + p.dstGap) + row / 16 * (1U + p.dstFracGap)) * size +
                                row % 16 * width + column,
                            from, first + i);
        }
    }
}

namespace emulation {

template <typename C, typename A, typename B, typename Initial>
void Multiply(const Call &call, const LocalTensor<C> &dst, const LocalTensor<A> &fm,
              const LocalTensor<B> &filter, const MmadParams &p, Initial initial)
{
    const Operand<C> to(call, "dst", dst, PIPE_M);
    const Operand<A> a(call, "fm", fm, PIPE_M);
    const Operand<B> b(call, "filter", filter, PIPE_M);
    constexpr uint64_t width = kRow<A>;
    const uint64_t deep = DivCeil(uint64_t{p.k}, width), wide = DivCeil(uint64_t{p.n}, 16);
    const uint64_t high = AlignUp(uint64_t{p.m}, 16);
    for (uint64_t row = 0; row < p.m; row++) {
        for (uint64_t column = 0; column < p.n; column++) {
            const uint64_t at = column / 16 * high * 16 + row * 16 + column % 16;
            C sum = initial(to, at, column);
            for (uint64_t i = 0; i < p.k; i++) {
                const A left = a.Load((row / 16 * deep + i / width) * kFractal<A> +
                                      row % 16 * width + i % width);
                const B right = b.Load((i / width * wide + column / 16) * kFractal<B> +
                                       column % 16 * width + i % width);
                sum += static_cast<C>(left) * static_cast<C>(right);
            }
            to.Store(at, sum);
        }
    }
}

}  // namespace emulation

template <typename C, typename A, typename B>
void Mmad(const LocalTensor<C> &dst, const LocalTensor<A> &fm, const LocalTensor<B> &filter,
          const MmadParams &p, emulation::Site site = emulation::Site::Here())
{
    const bool adds = p.isBias || !p.cmatrixInitVal;
    emulation::Multiply(emulation::Call("Mmad", site), dst, fm, filter, p,
                        [adds](const emulation::Operand<C> &to, uint64_t at, uint64_t) {
                            return adds ? to.Load(at) : C(0);
                        });
}

template <typename C, typename A, typename B>
void Mmad(const LocalTensor<C> &dst, const LocalTensor<A> &fm, const LocalTensor<B> &filter,
          const LocalTensor<C> &bias, const MmadParams &p,
          emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Mmad", site);
    const emulation::Operand<C> start(call, "bias", bias, PIPE_M);
    emulation::Multiply(call, dst, fm, filter, p,
                        [&](const emulation::Operand<C> &, uint64_t, uint64_t column) {
                            return start.Load(column);
                        });
}

namespace emulation {

template <typename D, typename S, typename Scale>
void PutThrough(const Call &call, const GlobalTensor<D> &dst, const LocalTensor<S> &src,
                const FixpipeParamsV220 &p, CO2Layout format, Scale scale)
{
    const Operand<S> from(call, "src", src, PIPE_FIX);
    const bool rows = format == CO2Layout::ROW_MAJOR;
    const uint64_t block = rows ? p.dstStride : p.dstStride * kRow<D>;
    const Atomic how = Core::Current().atomic;
    for (uint64_t matrix = 0; matrix < p.ndNum; matrix++) {
        for (uint64_t i = 0; i < uint64_t{p.mSize} * p.nSize; i++) {
            const uint64_t row = i / p.nSize, column = i % p.nSize;
            const S value = from.Load(matrix * p.srcNdStride * 256 +
                                      column / 16 * p.srcStride * 16 + row * 16 + column % 16);
            const D result = FixpipeValue<D>(value, p.quantPre, scale(column), p.reluEn);
            const uint64_t at = matrix * p.dstNdStride +
                                (rows ? row * block + column
                                      : column / 16 * block + row * 16 + column % 16);
            PutOut(call, dst, at, result, how);
        }
    }
}

}  // namespace emulation

template <typename D, typename S, const FixpipeConfig &config = CFG_ROW_MAJOR>
void Fixpipe(const GlobalTensor<D> &dst, const LocalTensor<S> &src, const FixpipeParamsV220 &p,
             emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Fixpipe", site);
    if (emulation::ByVector(p.quantPre)) {
        call.Fail(emulation::rule::Chip, "the mode of quantPre takes a vector of scales: give one");
    }
    emulation::PutThrough(call, dst, src, p, config.format,
                          [&p](uint64_t) { return p.deqScalar; });
}

/* The same with a scale for each column. */
template <typename D, typename S, const FixpipeConfig &config = CFG_ROW_MAJOR>
void Fixpipe(const GlobalTensor<D> &dst, const LocalTensor<S> &src,
             const LocalTensor<uint64_t> &cbufWorkspace, const FixpipeParamsV220 &p,
             emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("Fixpipe", site);
    if (!emulation::ByVector(p.quantPre) || p.ndNum != 1) {
        call.Fail(emulation::rule::Chip,
                  "a vector of scales needs a mode that begins with V; it is simulated for one "
                  "matrix");
    }
    /* The copy to the scales' own memory is the fixpipe's; a queue orders it as one of MTE1. */
    const emulation::Buffer *buffer = emulation::Maker::BufferOf(cbufWorkspace);
    const bool by_event =
        buffer != nullptr && buffer->arena->accesses[buffer->begin / 32].FollowsWrite(
                                 emulation::Core::Current().clocks, PIPE_FIX);
    const emulation::Operand<uint64_t> scales(call, "cbufWorkspace", cbufWorkspace,
                                              by_event ? PIPE_FIX : PIPE_MTE1);
    emulation::PutThrough(call, dst, src, p, config.format,
                          [&scales](uint64_t column) { return scales.Load(column); });
}

/* The result of the matrix unit to the next memory, on chips that have one. */
template <typename D, typename S>
void DataCopy(const LocalTensor<D> &dst, const LocalTensor<S> &src, const DataCopyParams &p,
              const DataCopyEnhancedParams &, emulation::Site site = emulation::Site::Here())
{
    const emulation::Call call("DataCopy", site);
    const emulation::Operand<D> to(call, "dst", dst, PIPE_FIX);
    const emulation::Operand<S> from(call, "src", src, PIPE_FIX);
    for (uint64_t i = 0; i < uint64_t{p.blockCount} * p.blockLen * 256; i++) {
        if (from.Written(i)) {
            to.Store(i, emulation::FixpipeValue<D>(from.Load(i), NoQuant, 0, false));
        }
    }
}

}  // namespace AscendC
