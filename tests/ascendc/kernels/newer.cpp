/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels as newer releases write them: threads, tensors at addresses, words for the cores,
 * structures that are passed by value, and a host function that launches.
 */
#include "kernel_operator.h"
#include "simt_api/asc_simt.h"

using namespace AscendC;

constexpr uint32_t N = 256;

struct Line {
    float slope, offset;
};

/* Sums of a block's numbers in a tree, by threads that wait for one another. */
__simt_vf__ __launch_bounds__(64) inline void tree(__gm__ float *x, __ubuf__ float *sums,
                                                   __gm__ float *y, uint32_t last)
{
    const uint32_t me = threadIdx.x + threadIdx.y * blockDim.x, all = blockDim.x * blockDim.y;
    sums[me] = x[blockIdx.x * all + me];
    for (uint32_t wide = all / 2; wide > 0; wide /= 2) {
        if (me >= last) {
            return;
        }
        asc_syncthreads();
        sums[me] += me < wide ? sums[me + wide] : 0;
    }
    if (me == 0) {
        asc_atomic_add(y, sums[0]);
        asc_atomic_max(y + 1, sums[0]);
    }
}

extern "C" __global__ __vector__ void sums(GM_ADDR x, GM_ADDR y, uint32_t last)
{
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 64 * sizeof(float));
    LocalTensor<float> memory = buffer.Get<float>();
    asc_vf_call<tree>(dim3(16, 4), (__gm__ float *)x, (__ubuf__ float *)memory.GetPhyAddr(),
                      (__gm__ float *)y, last);
    GlobalTensor<float> copy;
    copy.SetGlobalBuffer((__gm__ float *)y + 8 + GetBlockIdx() * 64, 64);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(copy, memory, 64);
}

__simt_vf__ inline void fill(__gm__ int32_t *x)
{
    x[Simt::GetThreadIdx()] = static_cast<int32_t>(Simt::GetThreadNum());
}

extern "C" __global__ __aicore__ void filled(GM_ADDR x)
{
    Simt::VF_CALL<fill>(Simt::Dim3(8), (__gm__ int32_t *)x);
}

extern "C" __global__ __aicore__ void alone(GM_ADDR x) { x[0] = static_cast<uint8_t>(threadIdx.x); }

/* A line through tensors at addresses. */
__global__ __vector__ void placed(GM_ADDR x, GM_ADDR y, Line line, uint32_t address)
{
    LocalMemAllocator<> memory;
    LocalTensor<float> in = memory.Alloc<TPosition::VECIN, float, N>();
    LocalTensor<float> out(TPosition::VECOUT, address, N);
    GlobalTensor<float> from, to;
    from.SetGlobalBuffer((__gm__ float *)x);
    to.SetGlobalBuffer((__gm__ float *)y);
    DataCopy(in, from, N);
    SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    Muls(out, in, line.slope, N);
    Adds(out, out, line.offset, N);
    SetFlag<HardEvent::V_MTE3>(EVENT_ID0);
    WaitFlag<HardEvent::V_MTE3>(EVENT_ID0);
    DataCopy(to, out, N);
}

/* Products on a cube core, to which the vector cores of its block add 1. */
extern "C" __global__ __mix__(1, 2) void mixed(GM_ADDR a, GM_ADDR b, GM_ADDR c)
{
    constexpr uint16_t S = 32;
    GlobalTensor<half> rows, columns;
    GlobalTensor<float> result;
    rows.SetGlobalBuffer((__gm__ half *)a);
    columns.SetGlobalBuffer((__gm__ half *)b);
    result.SetGlobalBuffer((__gm__ float *)c);
    if ASCEND_IS_AIC {
        LocalTensor<half> a1(TPosition::A1, 0, S * S), b1(TPosition::B1, S * S * 2, S * S);
        LocalTensor<half> a2(TPosition::A2, 0, S * S), b2(TPosition::B2, 0, S * S);
        LocalTensor<float> product(TPosition::CO1, 0, S * S);
        DataCopy(a1, rows, Nd2NzParams{1, S, S, 0, S, S, 1, 0});
        DataCopy(b1, columns, Nd2NzParams{1, S, S, 0, S, S, 1, 0});
        SetFlag<HardEvent::MTE2_MTE1>(EVENT_ID0);
        WaitFlag<HardEvent::MTE2_MTE1>(EVENT_ID0);
        for (uint16_t i = 0; i < S / 16; i++) {
            LoadData2DParams p(0, S / 16, S / 16, 0, 0, false, 0);
            LoadData(a2[i * 16 * S], a1[i * 256], p);
            p.ifTranspose = true;
            LoadData(b2[i * 16 * S], b1[i * 256], p);
        }
        SetFlag<HardEvent::MTE1_M>(EVENT_ID0);
        WaitFlag<HardEvent::MTE1_M>(EVENT_ID0);
        Mmad(product, a2, b2, MmadParams(S, S, S));
        SetFlag<HardEvent::M_FIX>(EVENT_ID0);
        WaitFlag<HardEvent::M_FIX>(EVENT_ID0);
        Fixpipe(result, product, FixpipeParamsV220(S, S, S, S, false));
        CrossCoreSetFlag<2, PIPE_FIX>(0);
    }
    if ASCEND_IS_AIV {
        CrossCoreWaitFlag(0);
        const uint32_t first = GetSubBlockIdx() * S * S / 2;
        LocalTensor<float> half_of_it(TPosition::VECCALC, 0, S * S / 2);
        DataCopy(half_of_it, result[first], S * S / 2);
        PipeBarrier<PIPE_ALL>();
        Adds(half_of_it, half_of_it, 1.0f, S * S / 2);
        PipeBarrier<PIPE_ALL>();
        DataCopy(result[first], half_of_it, S * S / 2);
    }
}

uint32_t launch(void *stream, uint8_t *x, uint8_t *y)
{
    return placed<<<1, nullptr, stream>>>(x, y, Line{2, 1}, N * 4);
}
