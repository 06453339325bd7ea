/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels around one elementary call each; the host chooses the call by number.
 */
#include "kernel_operator.h"

namespace {

using AscendC::LocalTensor;
using AscendC::RoundMode;
using AscendC::TPosition;

/* Up to two sources, one result of n elements, scratch memory; whole tensors are copied. */
template <typename S, typename D> struct Desk {
    AscendC::TPipe pipe;
    AscendC::TQue<TPosition::VECIN, 1> first, second;
    AscendC::TQue<TPosition::VECOUT, 1> out;
    AscendC::TBuf<TPosition::VECCALC> scratch;
    uint32_t results;

    __aicore__ inline Desk(uint32_t sources, uint32_t results) : results(results)
    {
        pipe.InitBuffer(first, 1, sources * sizeof(S));
        pipe.InitBuffer(second, 1, sources * sizeof(S));
        pipe.InitBuffer(out, 1, results * sizeof(D));
        pipe.InitBuffer(scratch, sources * sizeof(S));
    }

    __aicore__ inline LocalTensor<S> Read(AscendC::TQue<TPosition::VECIN, 1> &queue, GM_ADDR from,
                                          uint32_t count)
    {
        AscendC::GlobalTensor<S> global;
        global.SetGlobalBuffer(reinterpret_cast<__gm__ S *>(from), count);
        LocalTensor<S> local = queue.AllocTensor<S>();
        AscendC::DataCopy(local, global, count);
        queue.EnQue(local);
        return queue.DeQue<S>();
    }

    __aicore__ inline LocalTensor<D> Result()
    {
        LocalTensor<D> result = out.AllocTensor<D>();
        AscendC::Duplicate(result, D(0), static_cast<int32_t>(results));
        return result;
    }

    __aicore__ inline void Write(GM_ADDR to, LocalTensor<D> result)
    {
        AscendC::GlobalTensor<D> global;
        global.SetGlobalBuffer(reinterpret_cast<__gm__ D *>(to), results);
        out.EnQue(result);
        result = out.DeQue<D>();
        AscendC::DataCopy(global, result, results);
        out.FreeTensor(result);
    }
};

template <typename T, typename... Rest>
__aicore__ inline void CallBinary(int32_t which, const LocalTensor<T> &d, const LocalTensor<T> &a,
                                  const LocalTensor<T> &b, Rest... rest)
{
    switch (which) {
    case 0: AscendC::Add(d, a, b, rest...); break;
    case 1: AscendC::Sub(d, a, b, rest...); break;
    case 2: AscendC::Mul(d, a, b, rest...); break;
    case 3: AscendC::Max(d, a, b, rest...); break;
    case 4: AscendC::Min(d, a, b, rest...); break;
    default: AscendC::Div(d, a, b, rest...); break;
    }
}

template <typename T>
__aicore__ inline void Binary(GM_ADDR x, GM_ADDR y, GM_ADDR z, int32_t which, int32_t form,
                              uint32_t n)
{
    Desk<T, T> desk(n, n);
    auto a = desk.Read(desk.first, x, n), b = desk.Read(desk.second, y, n);
    auto d = desk.Result();
    const auto in_repeat = static_cast<uint32_t>(256 / sizeof(T));
    const auto repeats = static_cast<uint8_t>(n / in_repeat);
    if (form == 0) {
        CallBinary(which, d, a, b, static_cast<int32_t>(n));
    } else if (form == 1) { /* the first row of y with every row of x */
        CallBinary(which, d, a, b, static_cast<uint64_t>(in_repeat), repeats,
                   AscendC::BinaryRepeatParams{1, 1, 1, 8, 8, 0});
    } else { /* every other element */
        uint64_t mask[2] = {0x5555555555555555ULL, sizeof(T) == 2 ? 0x5555555555555555ULL : 0};
        const auto *bits = mask;
        CallBinary(which, d, a, b, bits, repeats, AscendC::BinaryRepeatParams{});
    }
    desk.first.FreeTensor(a);
    desk.second.FreeTensor(b);
    desk.Write(z, d);
}

template <typename T, typename... Rest>
__aicore__ inline void CallUnary(int32_t which, const LocalTensor<T> &d, const LocalTensor<T> &a,
                                 Rest... rest)
{
    switch (which) {
    case 0: AscendC::Sqrt(d, a, rest...); break;
    case 1: AscendC::Rsqrt(d, a, rest...); break;
    case 2: AscendC::Ln(d, a, rest...); break;
    case 3: AscendC::Exp(d, a, rest...); break;
    case 4: AscendC::Abs(d, a, rest...); break;
    case 5: AscendC::Reciprocal(d, a, rest...); break;
    default: AscendC::Relu(d, a, rest...); break;
    }
}

template <typename T>
__aicore__ inline void Unary(GM_ADDR x, GM_ADDR z, int32_t which, int32_t form, uint32_t n)
{
    Desk<T, T> desk(n, n);
    auto a = desk.Read(desk.first, x, n);
    auto d = desk.Result();
    const auto in_repeat = static_cast<uint64_t>(256 / sizeof(T));
    if (form == 0) {
        CallUnary(which, d, a, static_cast<int32_t>(n));
    } else {
        CallUnary(which, d, a, in_repeat, static_cast<uint8_t>(n / in_repeat),
                  AscendC::UnaryRepeatParams{});
    }
    desk.first.FreeTensor(a);
    desk.Write(z, d);
}

template <typename T>
__aicore__ inline void Scalar(GM_ADDR x, GM_ADDR z, int32_t which, float scalar, uint32_t n)
{
    Desk<T, T> desk(n, n);
    auto a = desk.Read(desk.first, x, n);
    auto d = desk.Result();
    const T value = static_cast<T>(scalar);
    const auto count = static_cast<int32_t>(n);
    switch (which) {
    case 0: AscendC::Adds(d, a, value, count); break;
    case 1: AscendC::Muls(d, a, value, count); break;
    case 2: AscendC::Maxs(d, a, value, count); break;
    default: AscendC::Mins(d, a, value, count); break;
    }
    desk.first.FreeTensor(a);
    desk.Write(z, d);
}

template <typename D, typename S>
__aicore__ inline void Casting(GM_ADDR x, GM_ADDR z, int32_t mode, uint32_t n)
{
    Desk<S, D> desk(n, n);
    auto a = desk.Read(desk.first, x, n);
    auto d = desk.Result();
    AscendC::SetDeqScale(half(1.0F));
    AscendC::Cast(d, a, static_cast<RoundMode>(mode), n);
    desk.first.FreeTensor(a);
    desk.Write(z, d);
}

/* 0: ReduceSum, 1: WholeReduceSum, 2: BlockReduceSum, 3: Brcb, 4: Duplicate of the first element */
template <typename T>
__aicore__ inline void Special(GM_ADDR x, GM_ADDR z, int32_t which, uint32_t n, uint32_t results)
{
    Desk<T, T> desk(n, results);
    auto a = desk.Read(desk.first, x, n);
    auto d = desk.Result();
    const auto in_repeat = static_cast<int32_t>(256 / sizeof(T));
    const auto repeats = static_cast<int32_t>(n) / in_repeat;
    switch (which) {
    case 0: AscendC::ReduceSum(d, a, desk.scratch.template Get<T>(), n); break;
    case 1: AscendC::WholeReduceSum(d, a, in_repeat, repeats, 1, 1, 8); break;
    case 2: AscendC::BlockReduceSum(d, a, repeats, in_repeat, 1, 1, 8); break;
    case 3: AscendC::Brcb(d, a, static_cast<uint8_t>(n / 8), {1, 8}); break;
    default: AscendC::Duplicate(d, a.GetValue(0), results); d(1) = d(0) + d(0); break;
    }
    desk.first.FreeTensor(a);
    desk.Write(z, d);
}

}  // namespace

extern "C" __global__ __aicore__ void unary_half(GM_ADDR x, GM_ADDR z, int32_t which, int32_t
    form, uint32_t n)
{
    Unary<half>(x, z, which, form, n);
}

extern "C" __global__ __aicore__ void binary_half(GM_ADDR x, GM_ADDR y, GM_ADDR z, int32_t which,
    int32_t form, uint32_t n)
{
    Binary<half>(x, y, z, which, form, n);
}

extern "C" __global__ __aicore__ void scalar_half(GM_ADDR x, GM_ADDR z, int32_t which, float
    scalar, uint32_t n)
{
    Scalar<half>(x, z, which, scalar, n);
}

extern "C" __global__ __aicore__ void special_half(GM_ADDR x, GM_ADDR z, int32_t which, uint32_t
    n, uint32_t results)
{
    Special<half>(x, z, which, n, results);
}

extern "C" __global__ __aicore__ void unary_float(GM_ADDR x, GM_ADDR z, int32_t which, int32_t
    form, uint32_t n)
{
    Unary<float>(x, z, which, form, n);
}

extern "C" __global__ __aicore__ void binary_float(GM_ADDR x, GM_ADDR y, GM_ADDR z, int32_t which,
    int32_t form, uint32_t n)
{
    Binary<float>(x, y, z, which, form, n);
}

extern "C" __global__ __aicore__ void scalar_float(GM_ADDR x, GM_ADDR z, int32_t which, float
    scalar, uint32_t n)
{
    Scalar<float>(x, z, which, scalar, n);
}

extern "C" __global__ __aicore__ void special_float(GM_ADDR x, GM_ADDR z, int32_t which, uint32_t
    n, uint32_t results)
{
    Special<float>(x, z, which, n, results);
}

extern "C" __global__ __aicore__ void binary_int32(GM_ADDR x, GM_ADDR y, GM_ADDR z, int32_t which,
    int32_t form, uint32_t n)
{
    Binary<int32_t>(x, y, z, which, form, n);
}

extern "C" __global__ __aicore__ void scalar_int32(GM_ADDR x, GM_ADDR z, int32_t which, float
    scalar, uint32_t n)
{
    Scalar<int32_t>(x, z, which, scalar, n);
}

extern "C" __global__ __aicore__ void cast_half_to_float(GM_ADDR x, GM_ADDR z, int32_t mode,
    uint32_t n)
{
    Casting<float, half>(x, z, mode, n);
}

extern "C" __global__ __aicore__ void cast_float_to_half(GM_ADDR x, GM_ADDR z, int32_t mode,
    uint32_t n)
{
    Casting<half, float>(x, z, mode, n);
}

extern "C" __global__ __aicore__ void cast_float_to_int32(GM_ADDR x, GM_ADDR z, int32_t mode,
    uint32_t n)
{
    Casting<int32_t, float>(x, z, mode, n);
}

extern "C" __global__ __aicore__ void cast_half_to_int32(GM_ADDR x, GM_ADDR z, int32_t mode,
    uint32_t n)
{
    Casting<int32_t, half>(x, z, mode, n);
}

extern "C" __global__ __aicore__ void cast_int32_to_float(GM_ADDR x, GM_ADDR z, int32_t mode,
    uint32_t n)
{
    Casting<float, int32_t>(x, z, mode, n);
}

extern "C" __global__ __aicore__ void cast_int32_to_half(GM_ADDR x, GM_ADDR z, int32_t mode,
    uint32_t n)
{
    Casting<half, int32_t>(x, z, mode, n);
}
