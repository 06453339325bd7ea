/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The library's quantization: AscendQuant to int8_t, AscendDequant from int32_t, AscendAntiQuant of
 * weights. A step on half is rounded to half, as the vector unit does; all others are exact.
 */
#pragma once

#include "ascendc/conversion.h"

namespace AscendC {

/* Rows of n elements, of which the first calCount count. */
struct DequantParams {
    uint32_t m = 0, n = 0, calCount = 0;
};

struct AntiQuantShapeInfo {
    uint32_t offsetHeight = 0, offsetWidth = 0, scaleHeight = 0, scaleWidth = 0;
};

namespace emulation {

/* Type in which a step computes. */
template <typename T> using Step = std::conditional_t<std::is_same_v<T, half>, half, float>;

/* A parameter of all elements, or one of each channel. */
template <typename T> auto Channels(const Call &, const char *, T value)
{
    return [value](uint64_t) { return value; };
}
template <typename T>
auto Channels(const Call &call, const char *name, const LocalTensor<T> &tensor)
{
    return [from = Walker<T>(call, name, tensor)](uint64_t i) { return from.operand.Load(i); };
}

template <typename P> constexpr uint64_t ChannelCount(const P &, uint64_t otherwise)
{
    return otherwise;
}
template <typename P> uint64_t ChannelCount(const LocalTensor<P> &tensor, uint64_t)
{
    return tensor.GetSize();
}

/* The scale of a channel: a number, or the bits of a float in the lower half of uint64_t. */
template <typename S> float ScaleOf(S scale)
{
    if constexpr (std::is_same_v<S, uint64_t>) {
        return BitCast<float>(static_cast<uint32_t>(scale));
    } else {
        return static_cast<float>(scale);
    }
}

template <typename T, typename Scale, typename Offset>
void Quantize(const Call &call, const LocalTensor<int8_t> &dst, const LocalTensor<T> &src,
              const Scale &scale, const Offset &offset, uint64_t count)
{
    RequireType<T, half, float>(call);
    const Walker<int8_t> to(call, "dst", dst);
    const Walker<T> from(call, "src", src);
    const auto scales = Channels(call, "scaleTensor", scale);
    const auto offsets = Channels(call, "offsetTensor", offset);
    const uint64_t channels = ChannelCount(scale, count);
    for (uint64_t i = 0; i < count; i++) {
        const Step<T> scaled = Step<T>(from.operand.Load(i)) * Step<T>(scales(i % channels));
        to.operand.Store(i, Converted<int8_t>(Step<T>(scaled + Step<T>(offsets(i % channels))),
                                              RoundMode::CAST_RINT));
    }
}

/* Rows of the result begin on 32-byte boundaries. */
template <typename T, typename Scale>
void Dequantize(const Call &call, const LocalTensor<T> &dst, const LocalTensor<int32_t> &src,
                const Scale &scale, const DequantParams &p)
{
    RequireType<T, half, float, bfloat16_t>(call);
    if (p.calCount == 0 || p.calCount > p.n) {
        call.Fail(rule::Bounds, Text("calCount is %u; it must be 1 to n, which is %u", p.calCount,
                                     p.n));
    }
    const Walker<T> to(call, "dstTensor", dst);
    const Walker<int32_t> from(call, "srcTensor", src);
    const auto scales = Channels(call, "deqScale", scale);
    const uint64_t width = AlignUp(uint64_t{p.n}, BlockBytes / sizeof(T));
    for (uint64_t row = 0; row < p.m; row++) {
        for (uint64_t i = 0; i < p.calCount; i++) {
            to.operand.Store(row * width + i,
                             NarrowTo<T>(static_cast<float>(from.operand.Load(row * p.n + i)) *
                                         ScaleOf(scales(i))));
        }
    }
}

/* Weights of K rows, or columns if transposed: a parameter for each of the others. */
template <bool transposed, typename In, typename Out, typename Offset, typename Scale>
void Restore(const Call &call, const LocalTensor<Out> &dst, const LocalTensor<In> &src,
             const Offset &offset, const Scale &scale, uint32_t k)
{
    RequireType<Out, half, bfloat16_t>(call);
    if (k == 0 || src.GetSize() % k != 0) {
        call.Fail(rule::Bounds, Text("K is %u; it must divide the %u elements of src", k,
                                     src.GetSize()));
    }
    const uint64_t channels = src.GetSize() / k;
    const Walker<Out> to(call, "dst", dst);
    const Walker<In> from(call, "src", src);
    const auto offsets = Channels(call, "offset", offset), scales = Channels(call, "scale", scale);
    for (uint64_t i = 0; i < src.GetSize(); i++) {
        const uint64_t channel = transposed ? i / k : i % channels;
        const Step<Out> shifted =
            Step<Out>(static_cast<float>(from.operand.Load(i))) + Step<Out>(offsets(channel));
        to.operand.Store(i, NarrowTo<Out>(static_cast<float>(
                                Step<Out>(shifted * Step<Out>(scales(channel))))));
    }
}

}  // namespace emulation

/* With temporary memory or none, of a count or of all elements. */
#define ASCENDC_QUANT(Scale, Offset, tail, count)                                                  \
    template <typename T, bool isReuseSource = false>                                              \
    void AscendQuant(const LocalTensor<int8_t> &dst, const LocalTensor<T> &src,                    \
                     const Scale &scale, const Offset &offset ASCENDC_LIST tail,                   \
                     emulation::Site site = emulation::Site::Here())                               \
    {                                                                                              \
        emulation::Quantize(emulation::Call("AscendQuant", site), dst, src, scale, offset, count); \
    }                                                                                              \
    template <typename T, bool isReuseSource = false>                                              \
    void AscendQuant(const LocalTensor<int8_t> &dst, const LocalTensor<T> &src,                    \
                     const LocalTensor<uint8_t> &sharedTmpBuffer, const Scale &scale,              \
                     const Offset &offset ASCENDC_LIST tail,                                       \
                     emulation::Site site = emulation::Site::Here())                               \
    {                                                                                              \
        const emulation::Call call("AscendQuant", site);                                           \
        emulation::Within(call, sharedTmpBuffer, 0);                                               \
        emulation::Quantize(call, dst, src, scale, offset, count);                                 \
    }
#define ASCENDC_QUANTS(Scale, Offset)                                                              \
    ASCENDC_QUANT(Scale, Offset, (), src.GetSize())                                                \
    ASCENDC_QUANT(Scale, Offset, (, uint32_t calCount), calCount)
ASCENDC_QUANTS(float, float)
ASCENDC_QUANTS(LocalTensor<T>, emulation::Scalar<T>)
ASCENDC_QUANTS(LocalTensor<T>, LocalTensor<T>)
#undef ASCENDC_QUANTS
#undef ASCENDC_QUANT

#define ASCENDC_DEQUANT(head, Scale)                                                               \
    template <ASCENDC_LIST head, auto... flags>                                                    \
    void AscendDequant(const LocalTensor<T> &dstTensor, const LocalTensor<int32_t> &srcTensor,     \
                       const Scale &deqScale, DequantParams params,                                \
                       emulation::Site site = emulation::Site::Here())                             \
    {                                                                                              \
        emulation::Dequantize(emulation::Call("AscendDequant", site), dstTensor, srcTensor,        \
                              deqScale, params);                                                   \
    }                                                                                              \
    template <ASCENDC_LIST head, auto... flags>                                                    \
    void AscendDequant(const LocalTensor<T> &dstTensor, const LocalTensor<int32_t> &srcTensor,     \
                       const Scale &deqScale, const LocalTensor<uint8_t> &sharedTmpBuffer,         \
                       DequantParams params, emulation::Site site = emulation::Site::Here())       \
    {                                                                                              \
        const emulation::Call call("AscendDequant", site);                                         \
        emulation::Within(call, sharedTmpBuffer, 0);                                               \
        emulation::Dequantize(call, dstTensor, srcTensor, deqScale, params);                       \
    }
ASCENDC_DEQUANT((typename T, typename S), LocalTensor<S>)
ASCENDC_DEQUANT((typename T), emulation::Scalar<T>)
#undef ASCENDC_DEQUANT

#define ASCENDC_ANTIQUANT(parameters, offset)                                                      \
    template <typename In, typename Out, bool isTranspose>                                         \
    void AscendAntiQuant(const LocalTensor<Out> &dst, const LocalTensor<In> &src,                  \
                         ASCENDC_LIST parameters, const LocalTensor<uint8_t> &sharedTmpBuffer,     \
                         uint32_t K, const AntiQuantShapeInfo & = {},                              \
                         emulation::Site site = emulation::Site::Here())                           \
    {                                                                                              \
        const emulation::Call call("AscendAntiQuant", site);                                       \
        emulation::Within(call, sharedTmpBuffer, 0);                                               \
        emulation::Restore<isTranspose>(call, dst, src, offset, scale, K);                         \
    }
ASCENDC_ANTIQUANT((const LocalTensor<Out> &offset, const LocalTensor<Out> &scale), offset)
ASCENDC_ANTIQUANT((emulation::Scalar<Out> offset, emulation::Scalar<Out> scale), offset)
ASCENDC_ANTIQUANT((const LocalTensor<Out> &scale), Out(0.0F))
ASCENDC_ANTIQUANT((emulation::Scalar<Out> scale), Out(0.0F))
#undef ASCENDC_ANTIQUANT

}  // namespace AscendC
