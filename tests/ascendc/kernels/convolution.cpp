/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A convolution by the matrix unit: a map of two blocks of 16 channels, 6 x 8, with 3 x 3 filters,
 * a border of `pad` below and right of it, and steps of 2 down; weights are K x N.
 */
#include "kernel_operator.h"

using namespace AscendC;

constexpr uint16_t H = 6, W = 8, C = 32, N = 16, K = C * 9, Taken = 16;

extern "C" __global__ __aicore__ void convolution(GM_ADDR x, GM_ADDR weights, GM_ADDR y,
                                                  uint32_t rows, uint32_t first, uint32_t pad)
{
    if ASCEND_IS_AIV {
        return;
    }
    TPipe pipe;
    TQue<TPosition::A1, 1> a1;
    TQue<TPosition::A2, 1> a2;
    TQue<TPosition::B1, 1> b1;
    TQue<TPosition::B2, 1> b2;
    TQue<TPosition::CO1, 1> c1;
    pipe.InitBuffer(a1, 1, H * W * C * sizeof(half));
    pipe.InitBuffer(a2, 1, Taken * K * sizeof(half));
    pipe.InitBuffer(b1, 1, K * N * sizeof(half));
    pipe.InitBuffer(b2, 1, K * N * sizeof(half));
    pipe.InitBuffer(c1, 1, Taken * N * sizeof(float));
    GlobalTensor<half> map, filter;
    GlobalTensor<float> result;
    map.SetGlobalBuffer((__gm__ half *)x, H * W * C);
    filter.SetGlobalBuffer((__gm__ half *)weights, K * N);
    result.SetGlobalBuffer((__gm__ float *)y, rows * N);

    LocalTensor<half> a = a1.AllocTensor<half>(), b = b1.AllocTensor<half>();
    DataCopy(a, map, H * W * C);
    DataCopy(b, filter, Nd2NzParams(1, K, N, 0, N, K, 1, 0));
    a1.EnQue(a);
    b1.EnQue(b);
    a = a1.DeQue<half>();
    b = b1.DeQue<half>();
    LocalTensor<half> left = a2.AllocTensor<half>(), right = b2.AllocTensor<half>();
    LoadData3DParamsV2<half> unfold;
    unfold.l1H = H;
    unfold.l1W = W;
    unfold.channelSize = C;
    unfold.mExtension = Taken;
    unfold.mStartPt = first;
    unfold.kExtension = K;
    unfold.filterH = unfold.filterW = 3;
    unfold.strideH = 2;
    unfold.padList[1] = unfold.padList[3] = pad;
    unfold.padValue = half(0.5F);
    LoadData(left, a, unfold);
    LoadData3DParamsV2<half> whole;
    whole.l1H = 1;
    whole.l1W = whole.mExtension = K;
    whole.channelSize = whole.kExtension = N;
    LoadData(right, b, whole);
    a2.EnQue(left);
    b2.EnQue(right);
    left = a2.DeQue<half>();
    right = b2.DeQue<half>();
    LocalTensor<float> c = c1.AllocTensor<float>();
    Mmad(c, left, right, MmadParams(Taken, N, K));
    c1.EnQue(c);
    c = c1.DeQue<float>();
    Fixpipe(result, c, FixpipeParamsV220(N, rows, Taken, N, false));
    a1.FreeTensor(a);
    b1.FreeTensor(b);
    a2.FreeTensor(left);
    b2.FreeTensor(right);
    c1.FreeTensor(c);
}
