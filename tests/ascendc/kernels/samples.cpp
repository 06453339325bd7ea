/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of one source and one result, as the examples of Ascend C's documents are: a macro
 * defines each around the calls that it shows. n and m are the elements of source and result.
 */
#include "kernel_operator.h"

using namespace AscendC;

template <typename S, typename D> class KernelFrame {
 public:
    __aicore__ inline KernelFrame(GM_ADDR x, GM_ADDR y, uint32_t n, uint32_t m) : n_(n), m_(m)
    {
        x_.SetGlobalBuffer((__gm__ S *)x + GetBlockIdx() * n, n);
        y_.SetGlobalBuffer((__gm__ D *)y + GetBlockIdx() * m, m);
        pipe_.InitBuffer(in_, 1, n * sizeof(S));
        pipe_.InitBuffer(out_, 1, m * sizeof(D));
        pipe_.InitBuffer(work_, 16384);
        pipe_.InitBuffer(more_, 16384);
    }
    __aicore__ inline LocalTensor<S> CopyIn()
    {
        LocalTensor<S> x = in_.template AllocTensor<S>();
        DataCopy(x, x_, n_);
        in_.EnQue(x);
        return in_.template DeQue<S>();
    }
    __aicore__ inline LocalTensor<D> Result()
    {
        LocalTensor<D> y = out_.template AllocTensor<D>();
        Duplicate(y, D(0), m_);
        return y;
    }
    __aicore__ inline void CopyOut(LocalTensor<S> &x, LocalTensor<D> &y)
    {
        out_.EnQue(y);
        in_.FreeTensor(x);
        y = out_.template DeQue<D>();
        DataCopy(y_, y, m_);
        out_.FreeTensor(y);
    }
    template <typename T> __aicore__ inline LocalTensor<T> Work() { return work_.Get<T>(); }
    template <typename T> __aicore__ inline LocalTensor<T> More() { return more_.Get<T>(); }

 private:
    TPipe pipe_;
    TQue<QuePosition::VECIN, 1> in_;
    TQue<QuePosition::VECOUT, 1> out_;
    TBuf<TPosition::VECCALC> work_, more_;
    GlobalTensor<S> x_;
    GlobalTensor<D> y_;
    uint32_t n_, m_;
};

#define SAMPLE(NAME, S, D, ...)                                                                    \
    extern "C" __global__ __aicore__ void NAME(GM_ADDR gmX, GM_ADDR gmY, uint32_t n, uint32_t m)   \
    {                                                                                              \
        KernelFrame<S, D> frame(gmX, gmY, n, m);                                                   \
        LocalTensor<S> x = frame.CopyIn();                                                         \
        LocalTensor<D> y = frame.Result();                                                         \
        __VA_ARGS__                                                                                \
        frame.CopyOut(x, y);                                                                       \
    }

SAMPLE(operators, half, half, y = x + x[m]; y = y * x; y = y - x[m];)

/* Halves of the columns, one after the other: weights, then the rescaled sum of the first half. */
SAMPLE(flash, float, float, const SoftMaxShapeInfo rows{4, 16, 4, 16}; const SoftMaxTiling tiling;
       LocalTensor<float> sum = frame.Work<float>(), max = sum[32], rescale = sum[64];
       SoftmaxFlashV2<float, false>(y, sum, max, x, rescale, sum, max, tiling, rows);
       SoftmaxFlashV2<float, true>(y[64], sum, max, x[64], rescale, sum, max,
                                   frame.More<uint8_t>(), tiling, rows);
       Mul(y, y, rescale, 16, 4, {1, 1, 0, 2, 2, 1}); DataCopy(y[128], sum, 32);)

SAMPLE(softmax_gradient, float, float, const SoftMaxShapeInfo rows{2, 32, 2, 30};
       const SoftMaxTiling tiling; SoftmaxGrad<float>(y, x, x[64], tiling, false, rows);
       SoftmaxGradFront<float>(y[64], x, x[64], frame.More<uint8_t>(), tiling, rows);)

SAMPLE(simple_softmax, half, half, const SoftMaxShapeInfo rows{2, 64, 2, 64};
       const SoftMaxTiling tiling; LocalTensor<float> sum = frame.Work<float>(), max = sum[16];
       SoftMax<half>(y, sum, max, x, tiling, rows); Duplicate(y, half(0), m);
       SimpleSoftMax<half>(y, sum, max, x, tiling, rows);)

SAMPLE(quantized, float, int8_t, AscendQuant(y, x, 30.0f, 2.0f, n / 2);
       AscendQuant(y[n / 2], x[n / 2], frame.More<uint8_t>(), x, x[8], n / 2);)

/* Rows of 24 of which 22 count; rows of results begin on 32-byte boundaries. */
SAMPLE(dequantized, int32_t, half, LocalTensor<float> scale = frame.Work<float>();
       CreateVecIndex(scale, 1.0f, 24);
       AscendDequant(y, x, scale, frame.More<uint8_t>(), {4, 24, 22});)

SAMPLE(restored, int8_t, half, LocalTensor<half> scale = frame.Work<half>();
       CreateVecIndex(scale, half(1), 32);
       AscendAntiQuant<int8_t, half, false>(y, x, scale[16], scale, frame.More<uint8_t>(), n / 16);
       AscendAntiQuant<int8_t, half, true>(y[n], x, half(2), half(0.5), frame.More<uint8_t>(), n);)

SAMPLE(four_bits, half, half, LocalTensor<int4b_t> few = frame.Work<int4b_t>();
       Cast(few, x, RoundMode::CAST_FLOOR, n); Cast(y, few[64], RoundMode::CAST_NONE, n - 64);
       DataCopy(y[n], few.ReinterpretCast<half>(), n / 4);)

SAMPLE(compared, float, float, Compare(x, x[64], CMPMODE::LT, (uint64_t)64, {1, 1, 1, 8, 8, 8});
       Select<float, SELMODE::VSEL_CMPMASK_SPR>(y, x, x[64], 1, {1, 1, 1, 8, 8, 8});
       LocalTensor<uint8_t> bits = frame.Work<uint8_t>(); GetCmpMask(bits);
       Not(bits.ReinterpretCast<uint16_t>(), bits.ReinterpretCast<uint16_t>(), 8);
       SetCmpMask(bits);
       Select<float, SELMODE::VSEL_CMPMASK_SPR>(y[64], x, x[64], 1, {1, 1, 1, 8, 8, 8});)

SAMPLE(never_compared, float, float, GetCmpMask(y);)
SAMPLE(in_fractals, float, float, const SoftMaxShapeInfo rows{2, 32, 2, 32};
       const SoftMaxTiling tiling; LocalTensor<float> sum = frame.Work<float>();
       SoftMax<float, false, false, true>(y, sum, sum[16], x, tiling, rows);)

SAMPLE(masks, float, float, uint64_t mask[2] = {0x00FF00FF00FF00FF, 0};
       Add(y, x, x[m], mask, m / 64, {1, 1, 1, 8, 8, 8});
       SetMaskCount();
       SetVectorMask<float, MaskMode::COUNTER>(100);
       Adds<float, false>(y, y, 1.0f, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});
       SetMaskNorm();
       ResetMask();
       Muls(y, y, 2.0f, (uint64_t)3, m / 64, {1, 1, 8, 8});)

SAMPLE(multiply_add, float, float, Duplicate(y, 2.0f, m);
       MulAddDst(y, x, x[m], m);
       FusedMulAdd(y, x, x[m], m);
       Axpy(y, x, 0.5f, m);
       FusedMulAddRelu(y, x, x[m], 64, m / 64, {1, 1, 1, 8, 8, 8});)

SAMPLE(activations, float, float, Sigmoid<float, false>(y, x, frame.Work<uint8_t>(), n);
       Tanh(y, y);
       Silu(y, y, n);
       Swish(y, y, n, 2.0f);)

SAMPLE(gated, float, float, SwiGLU(y, x, x[m], 1.0f, m);)

SAMPLE(through_bfloat16, bfloat16_t, bfloat16_t, LocalTensor<float> a = frame.Work<float>();
       Cast(a, x, RoundMode::CAST_NONE, n);
       Muls(a, a, 3.0f, n);
       Cast(y, a, RoundMode::CAST_RINT, n);)

SAMPLE(to_int8, half, int8_t, Cast(y, x, RoundMode::CAST_ROUND, n);)

SAMPLE(whole, float, float, Cast(y, x, RoundMode::CAST_FLOOR, n);)

SAMPLE(large, int32_t, float, Adds(x, x, 1 << 24, n); Cast(y, x, RoundMode::CAST_CEIL, n);)

SAMPLE(saturated, float, int64_t, Muls(x, x, 1e19f, n); Cast(y, x, RoundMode::CAST_TRUNC, n);)

SAMPLE(scaled, int32_t, half, if (n != 64) { SetDeqScale((half)0.5f); }
       Cast(y, x, RoundMode::CAST_NONE, n);)

SAMPLE(clamped, float, float, ClampMin(y, x, -1.0f, n);
       ClampMax(y, y, 1.5f, n);
       ClampMax(y, y, frame.Work<uint8_t>(), 1.25f, n);)

SAMPLE(faster_gelu, float, float, FasterGeluV2(y, x, n);)

SAMPLE(smaller, float, float, LocalTensor<uint8_t> bits = frame.Work<uint8_t>();
       Compare(bits, x, x[m], CMPMODE::LT, (uint64_t)64, m / 64, {1, 1, 1, 8, 8, 8});
       Select(y, bits, x, x[m], SELMODE::VSEL_TENSOR_TENSOR_MODE, (uint64_t)64, m / 64,
              {1, 1, 1, 8, 8, 8});)

SAMPLE(bits, int16_t, int16_t, Not(y, x, m);
       And(y, y, x[m], m);
       ShiftLeft(x, x, (int16_t)2, m);
       Or(y, y, x, (uint64_t)128, m / 128, {1, 1, 1, 8, 8, 8});
       ShiftRight(y, y, (int16_t)1, m);
       Xor(y, y, x[m], frame.Work<uint8_t>(), m);)

SAMPLE(spread, float, float, const uint32_t from[2] = {n, 1};
       const uint32_t to[2] = {n, m / n};
       BroadCast<float, 2, 1>(y, x, to, from, frame.Work<uint8_t>());)

SAMPLE(reduced, float, float,
       ReduceSum<float>(y, x, frame.Work<float>(), (int32_t)64, (int32_t)(n / 64), (int32_t)8);
       ReduceMax<float>(y[8], x, frame.Work<float>(), n, true);
       WholeReduceMin<float>(y[16], x, 64, n / 64, 1, 1, 8);
       WholeReduceMax<float>(y[48], x, 64, n / 64, 1, 1, 8, ReduceOrder::ORDER_ONLY_VALUE);)

SAMPLE(reduced_in_parts, half, half, BlockReduceMax<half>(y, x, n / 128, 128, 1, 1, 8);
       PairReduceSum<half>(y[n / 16], x, n / 128, 128, 1, 1, 8);)

SAMPLE(places, half, half, const uint64_t odd[2] = {0xAAAAAAAAAAAAAAAA, 0xAAAAAAAAAAAAAAAA};
       WholeReduceMax<half>(y, x, odd, n / 128, 1, 1, 8, ReduceOrder::ORDER_ONLY_INDEX);
       WholeReduceMin<half>(y[16], x, odd, n / 128, 1, 1, 8);
       ReduceMax<half>(y[32], x, frame.Work<half>(), odd, n / 128, 8, true);)

SAMPLE(padded, float, float, GlobalTensor<float> gm; gm.SetGlobalBuffer((__gm__ float *)gmX, n);
       LocalTensor<float> rows = frame.Work<float>();
       DataCopyPadExtParams<float> nines(true, 8, 8, 9), any(false, 8, 0, 0);
       DataCopyPad(rows, gm, DataCopyExtParams(2, 64, 0, 0, 0), nines);
       DataCopyPad(rows[64], gm, DataCopyParams(1, 48, 0, 0), DataCopyPadParams(false, 8, 0, 0));
       DataCopyPad(rows[96], gm, DataCopyExtParams(1, 48, 0, 0, 0), any);
       SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
       WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
       Muls(y, rows, 1.0f, 64);
       Muls(y[64], rows[72], 1.0f, 12);
       Muls(y[80], rows[104], 1.0f, 12);)

SAMPLE(backwards, half, half, LocalTensor<int32_t> numbers = frame.Work<int32_t>();
       ArithProgression<int32_t>(numbers, (n - 1) * sizeof(half), -(int32_t)sizeof(half), n);
       Gather(y, x, frame.Work<uint32_t>(), (uint32_t)0, (uint64_t)128, n / 128, 8);)

SAMPLE(every_other, float, float, uint64_t kept = 0;
       GatherMaskParams params(1, n / 64, 8, 0);
       GatherMask(y, x, (uint8_t)1, false, 0, params, kept);
       y.SetValue(m - 1, (float)kept);)

SAMPLE(sorted_lists, float, float, LocalTensor<float> lists = frame.Work<float>();
       CreateVecIndex(frame.More<int32_t>(), 0, n);
       Sort32<float>(lists, x, frame.More<uint32_t>(), n / 32);
       MrgSortSrcList<float> four(lists[0], lists[64], lists[128], lists[192]);
       MrgSort4Info info({32, 32, 32, 32}, false, 15, 1);
       MrgSort<float>(y, four, info);)

SAMPLE(largest, float, float, TopKInfo info; info.outter = 2; info.inner = n / 2; info.n = 60;
       TopkTiling tiling;
       TopK<float>(y, frame.Work<int32_t>(), x, frame.More<int32_t>(), frame.More<bool>(), 5,
                   tiling, info);)

SAMPLE(softmax, half, half, SoftMaxTiling tiling;
       SoftMaxShapeInfo shape = {n / 64, 64, n / 64, 60};
       SoftMax<half>(y, frame.Work<float>(), frame.More<float>(), x, tiling, shape);)

SAMPLE(log_softmax, float, float, LogSoftMaxTiling tiling;
       SoftMaxShapeInfo shape = {n / 64, 64, n / 64, 64};
       Muls(x, x, 300.0f, n);
       LogSoftMax<float>(y, frame.Work<float>(), frame.More<float>(), x, tiling, shape);)

SAMPLE(rms_norm, float, float, RmsNormTiling tiling; tiling.bLength = 1; tiling.sLength = m / 64;
       tiling.hLength = tiling.originalHLength = 64;
       RmsNorm<float>(y, x, x[m], 1e-5f, tiling);)

SAMPLE(transposed, half, half, uint64_t to[16]; uint64_t from[16];
       for (int i = 0; i < 16; i++) {
           to[i] = (uint64_t)y[16 * i].GetPhyAddr();
           from[i] = (uint64_t)x[n / 16 * i].GetPhyAddr();
       } TransDataTo5HDParams params;
       params.repeatTimes = n / 256;
       params.dstRepStride = 16;
       params.srcRepStride = 1;
       TransDataTo5HD<half>(to, from, params);)

/* Each block doubles its part, waits for all of them, and takes its neighbour's. */
extern "C" __global__ __aicore__ void neighbours(GM_ADDR gmX, GM_ADDR gmY, GM_ADDR shared,
                                                 uint32_t n, uint32_t late)
{
    const uint32_t next = (GetBlockIdx() + 1) % GetBlockNum();
    {
        KernelFrame<int32_t, int32_t> frame(gmX, shared, n, n);
        LocalTensor<int32_t> x = frame.CopyIn(), y = frame.Result();
        Muls(y, x, 2, n);
        frame.CopyOut(x, y);
    }
    if (late != 1 || GetBlockIdx() == 0) {
        SyncAll();
    }
    __gm__ int32_t *const doubled = (__gm__ int32_t *)shared;
    for (uint32_t i = 0; i < n; i++) {
        ((__gm__ int32_t *)gmY)[GetBlockIdx() * n + i] = doubled[next * n + i];
    }
}

/* Adds 1 on a vector core, and would add 10 on a cube core. */
extern "C" __global__ __aicore__ void vector_only(__gm__ int32_t *x)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_AIV_ONLY);
    if ASCEND_IS_AIV {
        x[GetBlockIdx()] += 1;
    } else {
        x[GetBlockIdx()] += 10;
    }
}

/* The numbers of the cores, added by kind; then a vector core takes its neighbour's sum, and all
 * take what the first core of the other kind has. */
extern "C" __global__ __aicore__ void joined(__gm__ int32_t *x)
{
    KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIC_1_2);
    const bool cube = ASCEND_IS_AIC;
    const uint32_t me = GetBlockIdx(), cores = GetBlockNum() * (cube ? 1 : 2);
    __gm__ int32_t *own = x + (cube ? 0 : 32), *other = x + (cube ? 32 : 0);
    own[me] = me + 1;
    CrossCoreSetFlag<0, PIPE_MTE3>(3);
    CrossCoreWaitFlag(3);
    for (uint32_t i = 0; i < cores; i++) {
        own[8 + me] += own[i];
    }
    if ASCEND_IS_AIV {
        own[16 + me] = own[8 + me] + me;
        CrossCoreSetFlag<1, PIPE_MTE3>(4);
        CrossCoreWaitFlag(4);
        own[24 + me] = own[16 + (me ^ 1)];
    }
    SyncAll();
    SyncAll<false>();
    own[me] = other[8];
}

/* Bytes decide; a row of them is twice as long as one of the values. */
SAMPLE(chosen_by_bytes, half, half, LocalTensor<uint8_t> mask = frame.Work<uint8_t>();
       LocalTensor<uint8_t> shared = frame.More<uint8_t>();
       for (uint32_t i = 0; i < 128; i++) { mask.SetValue(i, i % 64 % 3 == 1 ? 7 : 0); }
       SelectWithBytesMask(y, x, half(-1), mask, shared, {2, 32, 64});
       SelectWithBytesMask(y[64], half(2), x[64], mask, shared, {2, 32, 64});)

SAMPLE(widened, float, float, PadTiling tiling; tiling.srcHeight = 4;
       tiling.srcWidth = tiling.srcOriWidth = 10; PadParams params{0, 6, 3};
       LocalTensor<uint8_t> shared = frame.Work<uint8_t>(); Pad(y, x, params, shared, tiling);)

SAMPLE(narrowed, half, half, UnPadTiling tiling; tiling.srcHeight = 8; tiling.srcWidth = 16;
       UnPadParams params; params.rightPad = 6; UnPad(y, x, params, tiling);)

SAMPLE(welford, float, float, LocalTensor<float> mean = frame.Work<float>();
       LocalTensor<float> squares = frame.More<float>(); Duplicate(mean, 0.0f, 32);
       Duplicate(squares, 0.0f, 32);
       for (uint32_t i = 0; i < n / 32; i++) {
           WelfordUpdateParam para{1, 32, i < 3 ? 32u : 24u, 1.0f / (i + 1)};
           WelfordUpdate<float, float>(mean, squares, mean, squares, x[i * 32], para);
       } WelfordFinalizePara all{4, 32, 4, 24, 3, 8, 1.0f / 32, 1.0f / 120};
       WelfordFinalize(y, y[8], mean, squares, all);)

SAMPLE(group_norm, half, half, GroupNormTiling tiling; tiling.n = 2; tiling.c = 4; tiling.hw = 16;
       tiling.g = tiling.d = 2; LocalTensor<half> gamma = frame.Work<half>();
       LocalTensor<half> means = frame.More<half>(); Duplicate(means, half(0.0f), 32);
       for (uint32_t i = 0; i < 4; i++) {
           gamma.SetValue(i, half(i + 1.0f));
           gamma.SetValue(16 + i, half(0.5f * i));
       } GroupNorm(y, means, means[16], x, gamma, gamma[16], half(1e-3f), tiling);
       DataCopy(y[128], means, 32);)

SAMPLE(between, float, float, Clamp(y, x, -1.0f, 1.25f, n / 2);
       Clamp(y[n / 2], x[n / 2], x, 2.0f, n / 2);)

SAMPLE(integral, float, float, Truncate<float, RoundMode::CAST_FLOOR>(y, x, n / 2);
       Truncate<float, RoundMode::CAST_RINT>(y[n / 2], x[n / 2], n / 2);)

SAMPLE(products, float, float, SetNextTaskStart(); WaitPreTaskEnd();
       GlobalTensor<uint64_t> lines; lines.SetGlobalBuffer((__gm__ uint64_t *)gmX, 8);
       DataCachePreload(lines, 0);
       LocalTensor<uint8_t> shared = frame.Work<uint8_t>(); const uint32_t shape[] = {16, 8};
       ReduceProd<float, Pattern::Reduce::AR>(y, x, shared, shape, true);
       ReduceProd<float, Pattern::Reduce::RA>(y[16], x, shared, shape, true);
       y.SetValue(24, ScalarCast<float, int32_t, RoundMode::CAST_FLOOR>(x.GetValue(3)));
       y.SetValue(25, GetTaskRatio()); __gm__ uint8_t *first = gmX;
       WriteGmByPassDCache((__gm__ float *)first, ReadGmByPassDCache((__gm__ float *)first + 5));
       y.SetValue(26, ReadGmByPassDCache((__gm__ float *)first));)

/* Products that are too large, and roots of what is below 0. */
SAMPLE(not_finite, float, float, const uint32_t third = n / 3; Muls(x, x, 1e38f, 2 * third);
       Sqrt(x[third], x[third], 2 * third); IsInf(y, x, third);
       IsNan(y[third], x[third], third); IsFinite(y[2 * third], x[2 * third], third);)

SAMPLE(digamma, float, float, Digamma(y, x, frame.Work<uint8_t>(), n);)
