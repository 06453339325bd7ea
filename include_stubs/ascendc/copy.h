/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DataCopy and DataCopyPad: between global memory and the core, and inside of the core.
 */
#pragma once

#include "ascendc/global_tensor.h"
#include "ascendc/operand.h"

namespace AscendC {

/* Lengths and gaps in units of 32 bytes; in DataCopyPad the length, and the gap on the side of
 * global memory, are in bytes. */
struct DataCopyFields {
    uint16_t blockCount = 1;
    uint16_t blockLen = 0;
    uint16_t srcStride = 0;
    uint16_t dstStride = 0;
};
using DataCopyParams = emulation::Params<DataCopyFields, uint16_t, uint16_t, uint16_t, uint16_t>;

struct DataCopyExtFields {
    uint16_t blockCount = 1;
    uint32_t blockLen = 0;
    uint32_t srcStride = 0;
    uint32_t dstStride = 0;
    uint32_t rsv = 0;
};
using DataCopyExtParams =
    emulation::Params<DataCopyExtFields, uint16_t, uint32_t, uint32_t, uint32_t, uint32_t>;

struct DataCopyPadFields {
    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    uint64_t paddingValue = 0;
};
using DataCopyPadParams = emulation::Params<DataCopyPadFields, bool, uint8_t, uint8_t, uint64_t>;

template <typename T> struct DataCopyPadExtFields {
    bool isPad = false;
    uint8_t leftPadding = 0;
    uint8_t rightPadding = 0;
    T paddingValue = T(0);
};
template <typename T>
using DataCopyPadExtParams = emulation::Params<DataCopyPadExtFields<T>, bool, uint8_t, uint8_t, T>;

namespace emulation {

/* What SetAtomicAdd and its like make of a copy, element by element. */
template <typename T>
void Combine(Atomic how, uint8_t *target, const uint8_t *source, uint64_t bytes)
{
    for (uint64_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
        T old, value;
        std::memcpy(&old, target + at, sizeof(T));
        std::memcpy(&value, source + at, sizeof(T));
        value = how == Atomic::Add                    ? static_cast<T>(old + value)
                : (how == Atomic::Max) == (value < old) ? old
                                                        : value;
        std::memcpy(target + at, &value, sizeof(T));
    }
}

template <typename T>
void CopyOut(const Call &call, const GlobalTensor<T> &dst, uint64_t dst_first,
             const Operand<T> &source, uint64_t src_first, uint64_t bytes)
{
    const Atomic how = Core::Current().atomic;
    const uint8_t *from = source.Read(src_first, bytes);
    uint8_t *to = dst.Write(call, "dst", dst_first, bytes, how != Atomic::None);
    if (how == Atomic::None) {
        std::memcpy(to, from, bytes);
    } else if constexpr (kPacked<T>) {
        call.Fail(rule::Dtype, "int4b_t has no atomic copies");
    } else {
        Combine<T>(how, to, from, bytes);
    }
}

/* One element. */
template <typename T>
void PutOut(const Call &call, const GlobalTensor<T> &dst, uint64_t index, T value, Atomic how)
{
    uint8_t *to = dst.Write(call, "dst", index * sizeof(T), sizeof(T), how != Atomic::None);
    if (how != Atomic::None) {
        Combine<T>(how, to, reinterpret_cast<const uint8_t *>(&value), sizeof(T));
    } else {
        std::memcpy(to, &value, sizeof(T));
    }
}

inline void RequireBlocks(const Call &call, uint16_t blocks)
{
    if (blocks > 4095) {
        call.Fail(rule::Bounds, Text("blockCount is %u; it must be at most 4095", blocks));
    }
}

/* Rows of bytes, each so many behind the last one. */
struct Rows {
    uint64_t count, length, src_step, dst_step;
};

inline Rows RowsOf(const Call &call, const DataCopyParams &p)
{
    RequireBlocks(call, p.blockCount);
    const uint64_t length = uint64_t{p.blockLen} * 32;
    return {p.blockCount, length, length + uint64_t{p.srcStride} * 32,
            length + uint64_t{p.dstStride} * 32};
}

inline Rows OneRow(const Call &call, uint64_t bytes)
{
    if (bytes % BlockBytes != 0) {
        call.Fail(rule::Alignment,
                  Text("%llu bytes are to be copied; DataCopy copies multiples of 32 bytes: "
                       "DataCopyPad copies any number",
                       static_cast<unsigned long long>(bytes)));
    }
    return {1, bytes, 0, 0};
}

template <typename T>
void CopyRows(const Call &call, const LocalTensor<T> &dst, const GlobalTensor<T> &src,
              const Rows &rows)
{
    Operand<T> target(call, "dst", dst, PIPE_MTE2);
    target.Aligned();
    for (uint64_t i = 0; i < rows.count; i++) {
        const uint8_t *from = src.Read(call, "src", i * rows.src_step, rows.length);
        std::memcpy(target.Write(i * rows.dst_step, rows.length), from, rows.length);
    }
}

template <typename T>
void CopyRows(const Call &call, const GlobalTensor<T> &dst, const LocalTensor<T> &src,
              const Rows &rows)
{
    Operand<T> source(call, "src", src, PIPE_MTE3);
    source.Aligned();
    for (uint64_t i = 0; i < rows.count; i++) {
        CopyOut(call, dst, i * rows.dst_step, source, i * rows.src_step, rows.length);
    }
}

template <typename T>
void CopyRows(const Call &call, const LocalTensor<T> &dst, const LocalTensor<T> &src,
              const Rows &rows)
{
    /* The bias goes from C1 to C2 in units of 64 bytes; else both are the vector unit's. */
    const bool bias = dst.GetPosition() == TPosition::C2 && src.GetPosition() == TPosition::C1;
    const uint64_t unit = bias ? 2 : 1;
    const pipe_t pipe = bias ? PIPE_MTE1 : PIPE_V;
    Operand<T> target(call, "dst", dst, pipe), source(call, "src", src, pipe);
    if (!bias) {
        target.InVectorMemory();
        source.InVectorMemory();
    }
    target.Aligned();
    source.Aligned();
    for (uint64_t i = 0; i < rows.count; i++) {
        const uint8_t *from = source.Read(i * rows.src_step * unit, rows.length * unit);
        std::memmove(target.Write(i * rows.dst_step * unit, rows.length * unit), from,
                     rows.length * unit);
    }
}

}  // namespace emulation

#define ASCENDC_COPY(To, From)                                                                     \
    template <typename T>                                                                          \
    void DataCopy(const To<T> &dst, const From<T> &src, const DataCopyParams &params,              \
                  emulation::Site site = emulation::Site::Here())                                  \
    {                                                                                              \
        const emulation::Call call("DataCopy", site);                                              \
        emulation::CopyRows(call, dst, src, emulation::RowsOf(call, params));                      \
    }                                                                                              \
    template <typename T>                                                                          \
    void DataCopy(const To<T> &dst, const From<T> &src, uint32_t count,                            \
                  emulation::Site site = emulation::Site::Here())                                  \
    {                                                                                              \
        const emulation::Call call("DataCopy", site);                                              \
        emulation::CopyRows(call, dst, src,                                                        \
                            emulation::OneRow(call, emulation::BytesOf<T>(count)));                \
    }

ASCENDC_COPY(LocalTensor, GlobalTensor)
ASCENDC_COPY(GlobalTensor, LocalTensor)
ASCENDC_COPY(LocalTensor, LocalTensor)
#undef ASCENDC_COPY

namespace emulation {

/* Rows of any number of bytes; each begins on a 32-byte boundary of the core's memory. */
template <typename T, typename Params, typename Pad>
void PadIn(const Call &call, const LocalTensor<T> &dst, const GlobalTensor<T> &src,
           const Params &params, const Pad &padding, T value)
{
    RequireBlocks(call, params.blockCount);
    Operand<T> target(call, "dst", dst, PIPE_MTE2);
    target.Aligned();
    const uint64_t left = padding.leftPadding * sizeof(T), right = padding.rightPadding * sizeof(T);
    const uint64_t length = params.blockLen, pads = left + right;
    if (left > BlockBytes || right > BlockBytes) {
        call.Fail(rule::Alignment,
                  Text("%llu bytes of padding were asked for; 32 is the most on one side",
                       static_cast<unsigned long long>(std::max(left, right))));
    }
    const uint64_t row = (length + pads + BlockBytes - 1) / BlockBytes * BlockBytes +
                         uint64_t{params.dstStride} * BlockBytes;
    for (uint64_t i = 0; i < params.blockCount; i++) {
        const uint8_t *from = src.Read(call, "src", i * (length + params.srcStride), length);
        /* The whole block is written; what fills it up, or pads without isPad, has any value. */
        const uint64_t whole = AlignUp(length + pads, uint64_t{BlockBytes});
        uint8_t *to = target.Write(i * row, whole);
        std::memset(to, 0x7F, whole);
        for (uint64_t pad = 0; padding.isPad && pad < pads; pad += sizeof(T)) {
            std::memcpy(to + pad + (pad < left ? 0 : length), &value, sizeof(T));
        }
        std::memcpy(to + left, from, length);
    }
}

template <typename T, typename Params>
void PadOut(const Call &call, const GlobalTensor<T> &dst, const LocalTensor<T> &src,
            const Params &params)
{
    RequireBlocks(call, params.blockCount);
    Operand<T> source(call, "src", src, PIPE_MTE3);
    source.Aligned();
    const uint64_t length = params.blockLen;
    const uint64_t row = (length + BlockBytes - 1) / BlockBytes * BlockBytes +
                         uint64_t{params.srcStride} * BlockBytes;
    for (uint64_t i = 0; i < params.blockCount; i++) {
        CopyOut(call, dst, i * (length + params.dstStride), source, i * row, length);
    }
}

}  // namespace emulation

template <typename T>
void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src,
                 const DataCopyExtParams &params, const DataCopyPadExtParams<T> &pad,
                 emulation::Site site = emulation::Site::Here())
{
    emulation::PadIn(emulation::Call("DataCopyPad", site), dst, src, params, pad,
                     pad.paddingValue);
}

template <typename T>
void DataCopyPad(const LocalTensor<T> &dst, const GlobalTensor<T> &src,
                 const DataCopyParams &params, const DataCopyPadParams &pad,
                 emulation::Site site = emulation::Site::Here())
{
    T value;
    std::memcpy(&value, &pad.paddingValue, sizeof(T));
    emulation::PadIn(emulation::Call("DataCopyPad", site), dst, src, params, pad, value);
}

template <typename T>
void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src,
                 const DataCopyExtParams &params, emulation::Site site = emulation::Site::Here())
{
    emulation::PadOut(emulation::Call("DataCopyPad", site), dst, src, params);
}

template <typename T>
void DataCopyPad(const GlobalTensor<T> &dst, const LocalTensor<T> &src,
                 const DataCopyParams &params, emulation::Site site = emulation::Site::Here())
{
    emulation::PadOut(emulation::Call("DataCopyPad", site), dst, src, params);
}

/* Elements that were copied block by block, with distances of blocks and of repeats. */
struct CopyRepeatFields {
    uint16_t dstStride = 1, srcStride = 1, dstRepeatSize = 8, srcRepeatSize = 8;
};
using CopyRepeatParams =
    emulation::Params<CopyRepeatFields, uint16_t, uint16_t, uint16_t, uint16_t>;

/* Fills global memory with a value. */
template <typename T>
void InitGlobalMemory(const GlobalTensor<T> &gm, uint64_t size, T value,
                      emulation::Site site = emulation::Site::Here())
{
    for (uint64_t i = 0; i < size; i++) {
        gm.SetValue(i, value, site);
    }
}
template <typename T>
void InitOutput(const GlobalTensor<T> &gm, uint32_t size, T value = T(0),
                emulation::Site site = emulation::Site::Here())
{
    InitGlobalMemory(gm, size, value, site);
}

/* Copies to global memory combine from here on, in one step each, until SetAtomicNone. */
inline void SetAtomicNone() { emulation::Core::Current().atomic = emulation::Atomic::None; }
inline void DisableDmaAtomic() { SetAtomicNone(); }
/* The type of the copies that follow is that of their tensors. */
template <typename T> void SetAtomicType() {}
#define ASCENDC_ATOMIC(How)                                                                        \
    template <typename T> void SetAtomic##How()                                                    \
    {                                                                                              \
        emulation::Core::Current().atomic = emulation::Atomic::How;                                \
    }
ASCENDC_ATOMIC(Add)
ASCENDC_ATOMIC(Max)
ASCENDC_ATOMIC(Min)
#undef ASCENDC_ATOMIC

}  // namespace AscendC
