/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Products of the matrix unit: by its own operands, and by Matmul with what vector cores do after.
 */
#include "kernel_operator.h"
#include "lib/matmul_intf.h"

using namespace AscendC;
using namespace matmul;

constexpr uint16_t M = 32, N = 64, K = 48;

/* a (M x K) times b (K x N), or b as N x K of int8, in two steps of K. */
template <typename T, typename C> class KernelMmad {
 public:
    static constexpr uint16_t width = 32 / sizeof(T), depth = sizeof(T) == 1 ? 64 : K;

    __aicore__ inline void Init(GM_ADDR a, GM_ADDR b, GM_ADDR c)
    {
        a_.SetGlobalBuffer((__gm__ T *)a, M * depth);
        b_.SetGlobalBuffer((__gm__ T *)b, depth * N);
        c_.SetGlobalBuffer((__gm__ C *)c, M * N);
        pipe_.InitBuffer(a1_, 1, M * depth * sizeof(T));
        pipe_.InitBuffer(a2_, 1, M * depth * sizeof(T));
        pipe_.InitBuffer(b1_, 1, N * depth * sizeof(T));
        pipe_.InitBuffer(b2_, 1, N * depth * sizeof(T));
        pipe_.InitBuffer(c1_, 1, M * N * sizeof(C));
    }
    __aicore__ inline void Process(uint16_t steps)
    {
        LocalTensor<C> c = c1_.template AllocTensor<C>();
        const uint16_t k = depth / steps;
        for (uint16_t step = 0; step < steps; step++) {
            LocalTensor<T> a1 = a1_.template AllocTensor<T>(), b1 = b1_.template AllocTensor<T>();
            DataCopy(a1, a_[step * k], Nd2NzParams(1, M, k, 0, depth, M, 1, 0));
            if (sizeof(T) == 1) {
                DataCopy(b1, b_[step * k], Nd2NzParams(1, N, k, 0, depth, N, 1, 0));
            } else {
                DataCopy(b1, b_[step * k * N], Nd2NzParams(1, k, N, 0, N, k, 1, 0));
            }
            a1_.EnQue(a1);
            b1_.EnQue(b1);
            a1 = a1_.template DeQue<T>();
            b1 = b1_.template DeQue<T>();
            LocalTensor<T> a2 = a2_.template AllocTensor<T>(), b2 = b2_.template AllocTensor<T>();
            for (uint16_t row = 0; row < M / 16; row++) {
                LoadData(a2[row * k * 16], a1[row * 16 * width],
                         LoadData2DParams(0, k / width, M / 16, 0, 0, false, 0));
            }
            for (uint16_t row = 0; row < k / width; row++) {
                LoadData2DParams load(0, N / 16, sizeof(T) == 1 ? 1 : k / 16, 0, 0, sizeof(T) == 2,
                                      0);
                LoadData(b2[row * N * width],
                         b1[row * (sizeof(T) == 1 ? N * width : 16 * width)], load);
            }
            a2_.EnQue(a2);
            b2_.EnQue(b2);
            a2 = a2_.template DeQue<T>();
            b2 = b2_.template DeQue<T>();
            MmadParams product(M, N, k);
            product.cmatrixInitVal = step == 0;
            Mmad(c, a2, b2, product);
            a1_.FreeTensor(a1);
            b1_.FreeTensor(b1);
            a2_.FreeTensor(a2);
            b2_.FreeTensor(b2);
        }
        c1_.EnQue(c);
        c = c1_.template DeQue<C>();
        Fixpipe(c_, c, FixpipeParamsV220(N, M, M, N, true));
        c1_.FreeTensor(c);
    }

 private:
    TPipe pipe_;
    TQue<TPosition::A1, 1> a1_;
    TQue<TPosition::A2, 1> a2_;
    TQue<TPosition::B1, 1> b1_;
    TQue<TPosition::B2, 1> b2_;
    TQue<TPosition::CO1, 1> c1_;
    GlobalTensor<T> a_, b_;
    GlobalTensor<C> c_;
};

extern "C" __global__ __aicore__ void mmad_half(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t steps)
{
    KernelMmad<half, float> kernel;
    kernel.Init(a, b, c);
    kernel.Process(steps);
}

extern "C" __global__ __aicore__ void mmad_int8(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint32_t steps)
{
    if ASCEND_IS_AIV {
        return;
    }
    KernelMmad<int8_t, int32_t> kernel;
    kernel.Init(a, b, c);
    kernel.Process(steps);
}

/* Both vector cores of a block take half of the rows, and cut what the matrix unit gives at 0. */
extern "C" __global__ __aicore__ void matmul_relu(GM_ADDR a, GM_ADDR b, GM_ADDR bias, GM_ADDR c,
                                                  GM_ADDR workspace, GM_ADDR tilingGm)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    GET_TILING_DATA_WITH_STRUCT(TCubeTiling, tiling, tilingGm);
    TPipe pipe;
    Matmul<MatmulType<TPosition::GM, CubeFormat::ND, half>,
           MatmulType<TPosition::GM, CubeFormat::ND, half, true>,
           MatmulType<TPosition::VECIN, CubeFormat::ND, float>,
           MatmulType<TPosition::GM, CubeFormat::ND, float>>
        mm;
    REGIST_MATMUL_OBJ(&pipe, GetSysWorkSpacePtr(), mm, &tiling);
    GlobalTensor<half> aGm, bGm;
    GlobalTensor<float> cGm, biasGm;
    aGm.SetGlobalBuffer((__gm__ half *)a, tiling.M * tiling.Ka);
    bGm.SetGlobalBuffer((__gm__ half *)b, tiling.Kb * tiling.N);
    cGm.SetGlobalBuffer((__gm__ float *)c, tiling.M * tiling.N);
    biasGm.SetGlobalBuffer((__gm__ float *)bias, tiling.N);
    const int32_t first = GetBlockIdx() * tiling.singleCoreM;
    TQue<TPosition::VECOUT, 1> out;
    pipe.InitBuffer(out, 1, tiling.baseM * tiling.baseN * sizeof(float));
    mm.SetTensorA(aGm[first * tiling.Ka]);
    mm.SetTensorB(bGm, true);
    mm.SetBias(biasGm);
    for (int32_t count = 0; mm.Iterate(); count++) {
        LocalTensor<float> block = out.AllocTensor<float>();
        mm.GetTensorC(block, false, true);
        Relu(block, block, tiling.baseM * tiling.baseN);
        out.EnQue(block);
        block = out.DeQue<float>();
        const int32_t down = tiling.singleCoreM / tiling.baseM;
        const int32_t row = first + count % down * tiling.baseM;
        DataCopyParams rows(tiling.baseM, tiling.baseN / 8, 0, (tiling.N - tiling.baseN) / 8);
        DataCopy(cGm[row * tiling.N + count / down * tiling.baseN], block, rows);
        out.FreeTensor(block);
    }
    mm.End();
}

/* A transposed a, a tail of the rows, and the result in half. */
extern "C" __global__ __aicore__ void matmul_tail(GM_ADDR a, GM_ADDR b, GM_ADDR c,
                                                  GM_ADDR workspace, GM_ADDR tilingGm)
{
    GET_TILING_DATA_WITH_STRUCT(TCubeTiling, tiling, tilingGm);
    TPipe pipe;
    MatmulImpl<MatmulType<TPosition::GM, CubeFormat::ND, half, true>,
               MatmulType<TPosition::GM, CubeFormat::ND, half>,
               MatmulType<TPosition::GM, CubeFormat::ND, half>,
               MatmulType<TPosition::GM, CubeFormat::ND, float>, CFG_MDL>
        mm;
    mm.Init(&tiling, &pipe);
    GlobalTensor<half> aGm, bGm, cGm;
    aGm.SetGlobalBuffer((__gm__ half *)a, tiling.M * tiling.Ka);
    bGm.SetGlobalBuffer((__gm__ half *)b, tiling.Kb * tiling.N);
    cGm.SetGlobalBuffer((__gm__ half *)c, tiling.M * tiling.N);
    const int32_t first = GetBlockIdx() * tiling.singleCoreM, rest = tiling.M - first;
    mm.SetTail(rest < tiling.singleCoreM ? rest : tiling.singleCoreM, tiling.N);
    mm.SetTensorA(aGm[first], true);
    mm.SetTensorB(bGm);
    mm.IterateAll(cGm[first * tiling.N]);
    mm.End();
}

/* The cube core of a block waits for its vector core, which waits for the result. */
extern "C" __global__ __aicore__ void in_turns(__gm__ int32_t *x, uint32_t forgotten)
{
    if ASCEND_IS_AIC {
        CrossCoreWaitFlag(1);
        x[GetBlockIdx()] = x[GetBlockIdx()] * 10;
        if (forgotten == 0) {
            CrossCoreSetFlag<2, PIPE_FIX>(2);
        }
    } else {
        x[GetBlockIdx()] = x[GetBlockIdx()] + 1;
        CrossCoreSetFlag<2, PIPE_MTE3>(1);
        CrossCoreWaitFlag(2);
        x[GetBlockIdx()] = x[GetBlockIdx()] + 3;
    }
}
