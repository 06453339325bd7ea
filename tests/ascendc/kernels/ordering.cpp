/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that order the units by events, without queues. The line that a check must report when
 * `wrong` is set carries the kernel's name in a comment, and that of the earlier access "before".
 */
#include "kernel_operator.h"

using namespace AscendC;

namespace {

constexpr uint32_t N = 64; /* elements of a tile */

template <HardEvent event> __aicore__ inline void Order(int32_t wrong = 0)
{
    if (wrong == 0) {
        SetFlag<event>(EVENT_ID0);
        WaitFlag<event>(EVENT_ID0);
    }
}

struct Tiles {
    TPipe pipe;
    TBuf<TPosition::VECCALC> memory;
    GlobalTensor<float> x, y;
    LocalTensor<float> all;

    __aicore__ inline Tiles(GM_ADDR source, GM_ADDR target)
    {
        x.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(source));
        y.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(target));
        pipe.InitBuffer(memory, 4 * N * sizeof(float));
        all = memory.Get<float>();
    }
};

}  // namespace

/* While a tile is computed, the next one is copied to another part of the same buffer. */
extern "C" __global__ __aicore__ void two_tiles(GM_ADDR x, GM_ADDR y, int32_t)
{
    constexpr uint32_t tiles = 4;
    Tiles t(x, y);
    SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
    for (uint32_t i = 0; i <= tiles; i++) {
        if (i > 0) {
            WaitFlag<HardEvent::MTE2_V>((i - 1) % 2);
        }
        if (i < tiles) {
            WaitFlag<HardEvent::MTE3_MTE2>(i % 2);
            DataCopy(t.all[i % 2 * 2 * N], t.x[i * N], N);
            SetFlag<HardEvent::MTE2_V>(i % 2);
        }
        if (i > 0) {
            const uint32_t last = i - 1, part = last % 2 * 2 * N;
            Muls(t.all[part + N], t.all[part], 2.0F, N);
            SetFlag<HardEvent::V_MTE3>(last % 2);
            WaitFlag<HardEvent::V_MTE3>(last % 2);
            DataCopy(t.y[last * N], t.all[part + N], N);
            SetFlag<HardEvent::MTE3_MTE2>(last % 2);
        }
    }
    WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
}

/* The vector unit has waited for the first copy, and the second one for the vector unit. */
extern "C" __global__ __aicore__ void one_after_another(GM_ADDR x, GM_ADDR y, int32_t)
{
    Tiles t(x, y);
    DataCopy(t.all, t.x, 4 * N);
    Order<HardEvent::MTE2_V>();
    Order<HardEvent::V_MTE3>();
    DataCopy(t.y, t.all, 4 * N);
}

/* The scalar unit starts a copy when it has waited for another one. */
extern "C" __global__ __aicore__ void by_the_scalar_unit(GM_ADDR x, GM_ADDR y, int32_t)
{
    Tiles t(x, y);
    DataCopy(t.all, t.x, 4 * N);
    Order<HardEvent::MTE2_S>();
    DataCopy(t.y, t.all, 4 * N);
}

extern "C" __global__ __aicore__ void all_cores_wait(GM_ADDR x, GM_ADDR y, int32_t)
{
    Tiles t(x, y);
    DataCopy(t.all, t.x, 4 * N);
    SyncAll();
    DataCopy(t.y, t.all, 4 * N);
}

extern "C" __global__ __aicore__ void copied_over_operand(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Tiles t(x, y);
    DataCopy(t.all, t.x, N);
    Order<HardEvent::MTE2_V>();
    Muls(t.all[N], t.all, 2.0F, N); // before copied_over_operand
    Order<HardEvent::V_MTE2>(wrong);
    DataCopy(t.all, t.x[N], N); // copied_over_operand
}

extern "C" __global__ __aicore__ void computed_over_result(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Tiles t(x, y);
    Duplicate(t.all, 1.0F, N);
    Order<HardEvent::V_MTE3>();
    DataCopy(t.y, t.all, N); // before computed_over_result
    Order<HardEvent::MTE3_V>(wrong);
    Duplicate(t.all[N - 8], 2.0F, N); // computed_over_result
}

extern "C" __global__ __aicore__ void copied_over_result(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Tiles t(x, y);
    DataCopy(t.all, t.x, N);
    Order<HardEvent::MTE2_MTE3>();
    DataCopy(t.y, t.all, N); // before copied_over_result
    Order<HardEvent::MTE3_MTE2>(wrong);
    DataCopy(t.all, t.x[N], N); // copied_over_result
}

extern "C" __global__ __aicore__ void copied_over_zeros(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Tiles t(x, y);
    Duplicate(t.all, 0.0F, 2 * N); // before copied_over_zeros
    Order<HardEvent::V_MTE2>(wrong);
    DataCopy(t.all, t.x, N); // copied_over_zeros
}

extern "C" __global__ __aicore__ void set_while_copied(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Tiles t(x, y);
    Duplicate(t.all, 0.0F, N);
    Order<HardEvent::V_MTE3>();
    DataCopy(t.y, t.all, N); // before set_while_copied
    Order<HardEvent::MTE3_S>(wrong);
    t.all.SetValue(3, 1.0F); // set_while_copied
}
