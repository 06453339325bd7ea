/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One kernel around comparison, selection and their like, written as a class with a template
 * argument; the host chooses the call by number.
 */
#include "kernel_operator.h"

using namespace AscendC;

constexpr int32_t BUFFERS = 1;

template <typename T> class KernelChoice {
 public:
    __aicore__ inline KernelChoice() {}
    __aicore__ inline void Init(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t count)
    {
        count_ = count;
        x_.SetGlobalBuffer((__gm__ T *)x, count);
        y_.SetGlobalBuffer((__gm__ T *)y, count);
        z_.SetGlobalBuffer((__gm__ T *)z, count);
        pipe_.InitBuffer(in_x_, BUFFERS, count * sizeof(T));
        pipe_.InitBuffer(in_y_, BUFFERS, count * sizeof(T));
        pipe_.InitBuffer(out_, BUFFERS, count * sizeof(T));
        pipe_.InitBuffer(mask_, count / 8);
        pipe_.InitBuffer(work_, count * sizeof(uint32_t));
    }
    __aicore__ inline void Process(int32_t which)
    {
        CopyIn();
        Compute(which);
        CopyOut();
    }

 private:
    __aicore__ inline void CopyIn()
    {
        LocalTensor<T> x = in_x_.AllocTensor<T>(), y = in_y_.AllocTensor<T>();
        DataCopy(x, x_, count_);
        DataCopy(y, y_, count_);
        in_x_.EnQue(x);
        in_y_.EnQue(y);
    }
    __aicore__ inline void Compute(int32_t which)
    {
        LocalTensor<T> x = in_x_.DeQue<T>(), y = in_y_.DeQue<T>(), z = out_.AllocTensor<T>();
        LocalTensor<uint8_t> mask = mask_.Get<uint8_t>();
        LocalTensor<T> work = work_.Get<T>();
        Duplicate(z, T(0), count_);
        if (which < 6) {
            Compare(mask, x, y, static_cast<CMPMODE>(which), count_);
            Select(z, mask, x, y, SELMODE::VSEL_TENSOR_TENSOR_MODE, count_);
        } else if (which < 12) {
            CompareScalar(mask, x, T(1), static_cast<CMPMODE>(which - 6), count_);
            Select(z, mask, x, T(-9), SELMODE::VSEL_TENSOR_SCALAR_MODE, count_);
        } else if (which == 12) {
            LeakyRelu(z, x, T(0.5F), count_);
        } else if (which == 13) {
            Adds(z, y, T(0), count_);
            Axpy(z, x, T(2), count_);
        } else if (which == 14) {
            CreateVecIndex(z, T(3), count_);
        } else if (which == 15) {
            ReduceMax(z, x, work, count_, true);
        } else if (which == 16) {
            ReduceMin(z, x, work, count_, true);
        } else if (which == 17) {
            LocalTensor<int16_t> a = x.template ReinterpretCast<int16_t>();
            LocalTensor<int16_t> b = y.template ReinterpretCast<int16_t>();
            LocalTensor<int16_t> c = z.template ReinterpretCast<int16_t>();
            And(c, a, b, c.GetSize());
        } else if (which == 18) {
            LocalTensor<int16_t> a = x.template ReinterpretCast<int16_t>();
            LocalTensor<int16_t> b = y.template ReinterpretCast<int16_t>();
            LocalTensor<int16_t> c = z.template ReinterpretCast<int16_t>();
            Or(c, a, b, c.GetSize());
        } else {
            LocalTensor<uint32_t> offsets = work_.Get<uint32_t>();
            LocalTensor<int32_t> numbers = work_.Get<int32_t>();
            CreateVecIndex(numbers, 0, count_);
            Muls(numbers, numbers, -static_cast<int32_t>(sizeof(T)), count_);
            Adds(numbers, numbers, static_cast<int32_t>((count_ - 1) * sizeof(T)), count_);
            Gather(z, x, offsets, which == 19 ? 0 : 1, count_);
        }
        out_.EnQue<T>(z);
        in_x_.FreeTensor(x);
        in_y_.FreeTensor(y);
    }
    __aicore__ inline void CopyOut()
    {
        LocalTensor<T> z = out_.DeQue<T>();
        DataCopy(z_, z, count_);
        out_.FreeTensor(z);
    }

    TPipe pipe_;
    TQue<QuePosition::VECIN, BUFFERS> in_x_, in_y_;
    TQue<QuePosition::VECOUT, BUFFERS> out_;
    TBuf<QuePosition::VECCALC> mask_, work_;
    GlobalTensor<T> x_, y_, z_;
    uint32_t count_ = 0;
};

extern "C" __global__ __aicore__ void choice_half(GM_ADDR x, GM_ADDR y, GM_ADDR z, int32_t which,
                                                  uint32_t count)
{
    KernelChoice<half> kernel;
    kernel.Init(x, y, z, count);
    kernel.Process(which);
}

extern "C" __global__ __aicore__ void choice_float(GM_ADDR x, GM_ADDR y, GM_ADDR z, int32_t which,
                                                  uint32_t count)
{
    KernelChoice<float> kernel;
    kernel.Init(x, y, z, count);
    kernel.Process(which);
}
