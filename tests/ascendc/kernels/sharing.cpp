/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that share: memory by pools, lists of tensors with their shapes, results from block to
 * block in their order, and a scale for each column of a product.
 */
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint32_t N = 64;

/* The exponentials of N numbers, in memory of a pool. */
template <typename Pool>
__aicore__ inline void Exponentials(Pool &pool, GM_ADDR x, GM_ADDR y, uint32_t bytes)
{
    TQue<TPosition::VECIN, 1> in;
    TQue<TPosition::VECOUT, 1> out;
    GlobalTensor<float> from, to;
    from.SetGlobalBuffer((__gm__ float *)x, N);
    to.SetGlobalBuffer((__gm__ float *)y, N);
    pool.InitBuffer(in, 1, bytes);
    pool.InitBuffer(out, 1, bytes);
    LocalTensor<float> a = in.AllocTensor<float>();
    DataCopy(a, from, N);
    in.EnQue(a);
    a = in.DeQue<float>();
    LocalTensor<float> b = out.AllocTensor<float>();
    Exp(b, a, N);
    out.EnQue(b);
    in.FreeTensor(a);
    b = out.DeQue<float>();
    DataCopy(to, b, N);
    out.FreeTensor(b);
}

/* Two steps in the same memory, after which a buffer has what is left of all. */
extern "C" __global__ __aicore__ void pools(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t bytes,
                                            uint32_t shared)
{
    TPipe pipe;
    TBufPool<TPosition::VECCALC> all, first;
    TBufPool<TPosition::VECCALC, 2> second;
    TBuf<TPosition::VECCALC> rest;
    pipe.InitBufPool(all, 190 * 1024);
    all.InitBufPool(first, 2 * N * sizeof(float));
    all.InitBufPool(second, shared, first);
    all.InitBuffer(rest, 189 * 1024);
    Exponentials(first, x, y, bytes);
    first.Reset();
    PipeBarrier<PIPE_ALL>();
    Exponentials(second, y, z, bytes);
}

/* Each tensor of a list times its number of elements plus its place, to another list. */
extern "C" __global__ __aicore__ void lists(GM_ADDR xs, GM_ADDR ys, uint32_t wanted)
{
    const ListTensorDesc from((__gm__ void *)xs), to((__gm__ void *)ys);
    uint64_t shape[8];
    TensorDesc<float> desc;
    desc.SetShapeAddr(shape);
    for (uint32_t i = 0; i < from.GetSize(); i++) {
        from.GetDesc(desc, i + wanted);
        uint64_t size = 1;
        for (uint32_t axis = 0; axis < desc.GetDim(); axis++) {
            size *= desc.GetShape(axis);
        }
        for (uint64_t at = 0; at < size; at++) {
            to.GetDataPtr<float>(i)[at] = desc.GetDataObj().GetValue(at) * size + desc.GetIndex();
        }
    }
}

/* Sums over the blocks before, each of which announces its own to the next one. */
extern "C" __global__ __aicore__ void running_sums(__gm__ float *x, GM_ADDR events, int32_t silent)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 1024);
    GlobalTensor<int32_t> memory;
    memory.SetGlobalBuffer((__gm__ int32_t *)events);
    LocalTensor<int32_t> local = buffer.Get<int32_t>();
    const int32_t me = GetBlockIdx();
    if (me > 0) {
        IBWait(memory, local, me - 1, 3);
        x[me] += x[me - 1];
    }
    if (me != silent) {
        IBSet(memory, local, me, 3);
    }
}

/* a (16 x 64) times b (N x 64 of bytes), each column with its own scale. */
extern "C" __global__ __aicore__ void scaled_columns(GM_ADDR a, GM_ADDR b, GM_ADDR scales,
                                                     GM_ADDR c, uint32_t by_vector)
{
    constexpr uint16_t M = 16, K = 64;
    TPipe pipe;
    TQue<TPosition::A1, 1> a1, s1;
    TQue<TPosition::A2, 1> a2;
    TQue<TPosition::B1, 1> b1;
    TQue<TPosition::B2, 1> b2;
    TQue<TPosition::CO1, 1> c1;
    pipe.InitBuffer(a1, 1, M * K);
    pipe.InitBuffer(s1, 1, N * sizeof(uint64_t));
    pipe.InitBuffer(a2, 1, M * K);
    pipe.InitBuffer(b1, 1, N * K);
    pipe.InitBuffer(b2, 1, N * K);
    pipe.InitBuffer(c1, 1, M * N * sizeof(int32_t));
    GlobalTensor<int8_t> left, right;
    GlobalTensor<uint64_t> factors;
    GlobalTensor<half> result;
    left.SetGlobalBuffer((__gm__ int8_t *)a);
    right.SetGlobalBuffer((__gm__ int8_t *)b);
    factors.SetGlobalBuffer((__gm__ uint64_t *)scales);
    result.SetGlobalBuffer((__gm__ half *)c);
    LocalTensor<int8_t> x = a1.AllocTensor<int8_t>(), y = b1.AllocTensor<int8_t>();
    LocalTensor<uint64_t> s = s1.AllocTensor<uint64_t>();
    DataCopy(x, left, Nd2NzParams(1, M, K, 0, K, M, 1, 0));
    DataCopy(y, right, Nd2NzParams(1, N, K, 0, K, N, 1, 0));
    DataCopy(s, factors, N);
    a1.EnQue(x);
    b1.EnQue(y);
    s1.EnQue(s);
    x = a1.DeQue<int8_t>();
    y = b1.DeQue<int8_t>();
    s = s1.DeQue<uint64_t>();
    LocalTensor<int8_t> p = a2.AllocTensor<int8_t>(), q = b2.AllocTensor<int8_t>();
    LoadData(p, x, LoadData2DParams(0, K / 32, 1, 0, 0, false, 0));
    LoadData(q, y, LoadData2DParams(0, K / 32 * N / 16, 1, 0, 0, false, 0));
    a2.EnQue(p);
    b2.EnQue(q);
    p = a2.DeQue<int8_t>();
    q = b2.DeQue<int8_t>();
    LocalTensor<int32_t> sum = c1.AllocTensor<int32_t>();
    Mmad(sum, p, q, MmadParams(M, N, K, 0, false, true));
    c1.EnQue(sum);
    sum = c1.DeQue<int32_t>();
    FixpipeParamsV220 params(N, M, M, N, false);
    params.quantPre = by_vector != 0 ? QuantMode_t::VDEQF16 : QuantMode_t::DEQF16;
    Fixpipe<half, int32_t, CFG_ROW_MAJOR>(result, sum, s, params);
    a1.FreeTensor(x);
    b1.FreeTensor(y);
    s1.FreeTensor(s);
    a2.FreeTensor(p);
    b2.FreeTensor(q);
    c1.FreeTensor(sum);
}
