/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels with one mistake each, made when `wrong` is set. The line that a check must report carries
 * the kernel's name in a comment.
 */
#include "kernel_operator.h"

namespace {

constexpr uint32_t N = 64; /* elements of the arguments */

struct Bench {
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> in;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> out;
    AscendC::GlobalTensor<float> x, y;

    __aicore__ inline Bench(GM_ADDR source, GM_ADDR target)
    {
        x.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(source), N);
        y.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(target), N);
        pipe.InitBuffer(in, 2, N * sizeof(float));
        pipe.InitBuffer(out, 1, N * sizeof(float));
    }

    __aicore__ inline AscendC::LocalTensor<float> Read()
    {
        AscendC::LocalTensor<float> local = in.AllocTensor<float>();
        AscendC::DataCopy(local, x, N);
        in.EnQue(local);
        return in.DeQue<float>();
    }

    __aicore__ inline void Write(const AscendC::LocalTensor<float> &result)
    {
        out.EnQue(result);
        AscendC::LocalTensor<float> local = out.DeQue<float>();
        AscendC::DataCopy(y, local, N);
        out.FreeTensor(local);
    }
};

}  // namespace

/* ---- queue ------------------------------------------------------------------------------- */

extern "C" __global__ __aicore__ void double_free(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.Read();
    b.in.FreeTensor(a);
    if (wrong != 0) {
        b.in.FreeTensor(a); // double_free
    }
}

extern "C" __global__ __aicore__ void deque_of_nothing(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.in.AllocTensor<float>();
    if (wrong == 0) {
        b.in.EnQue(a);
    }
    a = b.in.DeQue<float>(); // deque_of_nothing
    b.in.FreeTensor(a);
}

extern "C" __global__ __aicore__ void missing_free(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.in.AllocTensor<float>(); // missing_free
    if (wrong == 0) {
        b.in.FreeTensor(a);
    }
}

extern "C" __global__ __aicore__ void missing_deque(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.in.AllocTensor<float>();
    b.in.EnQue(a); // missing_deque
    if (wrong == 0) {
        b.in.FreeTensor(b.in.DeQue<float>());
    }
}

extern "C" __global__ __aicore__ void too_deep(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto first = b.in.AllocTensor<float>();
    auto second = b.in.AllocTensor<float>();
    b.in.EnQue(first);
    if (wrong == 0) {
        b.in.FreeTensor(b.in.DeQue<float>());
    }
    b.in.EnQue(second); // too_deep
    b.in.FreeTensor(b.in.DeQue<float>());
}

extern "C" __global__ __aicore__ void no_buffer_left(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto first = b.out.AllocTensor<float>();
    if (wrong == 0) {
        b.out.FreeTensor(first);
    }
    auto second = b.out.AllocTensor<float>(); // no_buffer_left
    b.out.FreeTensor(second);
}

extern "C" __global__ __aicore__ void use_after_free(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.Read();
    auto c = b.out.AllocTensor<float>();
    if (wrong != 0) {
        b.in.FreeTensor(a);
    }
    AscendC::Adds(c, a, 1.0F, N); // use_after_free
    b.in.FreeTensor(a);
    b.Write(c);
}

extern "C" __global__ __aicore__ void use_while_queued(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.in.AllocTensor<float>();
    AscendC::DataCopy(a, b.x, N);
    b.in.EnQue(a);
    if (wrong == 0) {
        a = b.in.DeQue<float>();
    }
    auto c = b.out.AllocTensor<float>();
    AscendC::Adds(c, a, 1.0F, N); // use_while_queued
    b.in.FreeTensor(a);
    b.Write(c);
}

extern "C" __global__ __aicore__ void free_in_queue(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.in.AllocTensor<float>();
    b.in.EnQue(a);
    if (wrong == 0) {
        a = b.in.DeQue<float>();
    }
    b.in.FreeTensor(a); // free_in_queue
}

extern "C" __global__ __aicore__ void foreign_queue(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.in.AllocTensor<float>();
    if (wrong != 0) {
        b.out.FreeTensor(a); // foreign_queue
    }
    b.in.FreeTensor(a);
}

extern "C" __global__ __aicore__ void second_pipe(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    if (wrong == 0) {
        b.pipe.Destroy();
    }
    AscendC::TPipe other; // second_pipe
}

extern "C" __global__ __aicore__ void no_memory(GM_ADDR, GM_ADDR, int32_t wrong)
{
    AscendC::TPipe pipe;
    AscendC::TBuf<> buffer;
    if (wrong == 0) {
        pipe.InitBuffer(buffer, 32);
    }
    AscendC::Duplicate(buffer.Get<float>(), 0.0F, 8); // no_memory
}

extern "C" __global__ __aicore__ void pipe_is_gone(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.in.AllocTensor<float>();
    b.in.FreeTensor(a);
    if (wrong != 0) {
        b.pipe.Reset();
    }
    a = b.in.AllocTensor<float>(); // pipe_is_gone
    b.in.FreeTensor(a);
}

/* ---- alignment, position, capacity ------------------------------------------------------- */

extern "C" __global__ __aicore__ void odd_copy(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.in.AllocTensor<float>();
    AscendC::DataCopy(a, b.x, wrong != 0 ? 12 : 16); // odd_copy
    b.in.FreeTensor(a);
}

extern "C" __global__ __aicore__ void odd_slice(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.Read();
    auto c = b.out.AllocTensor<float>();
    AscendC::Duplicate(c, 0.0F, N);
    AscendC::Adds(c, a[wrong != 0 ? 4 : 8], 1.0F, 8); // odd_slice
    b.in.FreeTensor(a);
    b.Write(c);
}

extern "C" __global__ __aicore__ void too_much_padding(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.in.AllocTensor<float>();
    const uint8_t right = wrong != 0 ? 9 : 3;
    AscendC::DataCopyPad(a, b.x, AscendC::DataCopyExtParams{1, 5 * sizeof(float), 0, 0, 0}, // too_much_padding
                         AscendC::DataCopyPadExtParams<float>{true, 0, right, 0.0F});
    b.in.FreeTensor(a);
}

extern "C" __global__ __aicore__ void in_matrix_memory(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    AscendC::TBuf<AscendC::TPosition::A1> matrix;
    AscendC::TBuf<AscendC::TPosition::VECCALC> vector;
    b.pipe.InitBuffer(matrix, 256);
    b.pipe.InitBuffer(vector, 256);
    auto target = wrong != 0 ? matrix.Get<float>() : vector.Get<float>();
    AscendC::Duplicate(target, 0.0F, N); // in_matrix_memory
}

extern "C" __global__ __aicore__ void too_large(GM_ADDR, GM_ADDR, int32_t wrong)
{
    AscendC::TPipe pipe;
    AscendC::TQue<AscendC::TPosition::VECIN, 2> queue;
    pipe.InitBuffer(queue, 2, wrong != 0 ? 96 * 1024 + 32 : 96 * 1024); // too_large
}

/* ---- bounds, uninitialised ---------------------------------------------------------------- */

extern "C" __global__ __aicore__ void beyond_local(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.in.AllocTensor<float>();
    AscendC::Duplicate(a, 0.0F, wrong != 0 ? N + 1 : N); // beyond_local
    b.in.FreeTensor(a);
}

extern "C" __global__ __aicore__ void beyond_global(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.in.AllocTensor<float>();
    AscendC::DataCopy(a, b.x[wrong != 0 ? 16 : 8], N - 8); // beyond_global
    b.in.FreeTensor(a);
}

extern "C" __global__ __aicore__ void larger_than_argument(GM_ADDR x, GM_ADDR, int32_t wrong)
{
    AscendC::GlobalTensor<float> tensor;
    tensor.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(x), wrong != 0 ? N + 1 : N); // larger_than_argument
}

extern "C" __global__ __aicore__ void wild_index(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.Read();
    const float value = a.GetValue(wrong != 0 ? N : N - 1); // wild_index
    b.y.SetValue(0, value);
    b.in.FreeTensor(a);
}

extern "C" __global__ __aicore__ void wild_slice(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.Read();
    auto rest = a[wrong != 0 ? -1 : 8]; // wild_slice
    static_cast<void>(rest);
    b.in.FreeTensor(a);
}

extern "C" __global__ __aicore__ void no_address(GM_ADDR x, GM_ADDR, int32_t wrong)
{
    AscendC::GlobalTensor<float> tensor;
    if (wrong == 0) {
        tensor.SetGlobalBuffer(reinterpret_cast<__gm__ float *>(x));
    }
    tensor.GetValue(0); // no_address
}

extern "C" __global__ __aicore__ void never_computed(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto c = b.out.AllocTensor<float>();
    AscendC::Duplicate(c, 0.0F, wrong != 0 ? N - 8 : N);
    b.out.EnQue(c);
    c = b.out.DeQue<float>();
    AscendC::DataCopy(b.y, c, N); // never_computed
    b.out.FreeTensor(c);
}

extern "C" __global__ __aicore__ void never_filled(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    AscendC::TBuf<> scratch;
    b.pipe.InitBuffer(scratch, 256);
    auto s = scratch.Get<float>();
    if (wrong == 0) {
        AscendC::Duplicate(s, 1.0F, N);
    }
    auto c = b.out.AllocTensor<float>();
    AscendC::Add(c, s, s, N); // never_filled
    b.Write(c);
}

/* ---- synchronisation, race, overlap, dtype, temporary -------------------------------------- */

extern "C" __global__ __aicore__ void unordered_input(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.in.AllocTensor<float>();
    AscendC::DataCopy(a, b.x, N);
    if (wrong == 0) {
        AscendC::SetFlag<AscendC::HardEvent::MTE2_V>(EVENT_ID0);
        AscendC::WaitFlag<AscendC::HardEvent::MTE2_V>(EVENT_ID0);
    }
    auto c = b.out.AllocTensor<float>();
    AscendC::Adds(c, a, 1.0F, N); // unordered_input
    b.in.FreeTensor(a);
    b.Write(c);
}

extern "C" __global__ __aicore__ void unordered_value(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.in.AllocTensor<float>();
    AscendC::DataCopy(a, b.x, N);
    if (wrong == 0) {
        AscendC::SetFlag<AscendC::HardEvent::MTE2_S>(EVENT_ID0);
        AscendC::WaitFlag<AscendC::HardEvent::MTE2_S>(EVENT_ID0);
    }
    const float value = a.GetValue(0); // unordered_value
    b.y.SetValue(0, value);
    b.in.FreeTensor(a);
}

extern "C" __global__ __aicore__ void wrong_direction(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.Read();
    AscendC::Adds(a, a, 1.0F, N);
    b.in.EnQue(a);
    a = b.in.DeQue<float>();
    if (wrong == 0) {
        AscendC::PipeBarrier<PIPE_ALL>();
    }
    AscendC::DataCopy(b.y, a, N); // wrong_direction
    b.in.FreeTensor(a);
}

extern "C" __global__ __aicore__ void wait_without_set(GM_ADDR, GM_ADDR, int32_t wrong)
{
    if (wrong == 0) {
        AscendC::SetFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID1);
    }
    AscendC::WaitFlag<AscendC::HardEvent::V_MTE3>(EVENT_ID1); // wait_without_set
}

extern "C" __global__ __aicore__ void set_without_wait(GM_ADDR, GM_ADDR, int32_t wrong)
{
    AscendC::SetFlag<AscendC::HardEvent::V_S>(EVENT_ID2); // set_without_wait
    if (wrong == 0) {
        AscendC::WaitFlag<AscendC::HardEvent::V_S>(EVENT_ID2);
    }
}

extern "C" __global__ __aicore__ void same_place(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto c = b.out.AllocTensor<float>();
    AscendC::Duplicate(c, static_cast<float>(AscendC::GetBlockIdx()), N);
    b.out.EnQue(c);
    c = b.out.DeQue<float>();
    const uint32_t part = N / static_cast<uint32_t>(AscendC::GetBlockNum());
    const uint32_t first = static_cast<uint32_t>(AscendC::GetBlockIdx()) * part;
    AscendC::DataCopy(b.y[first], c, wrong != 0 && first == 0 ? part + 8 : part); // (the first writer)
    b.out.FreeTensor(c);
}

extern "C" __global__ __aicore__ void other_blocks_result(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    const int64_t block = AscendC::GetBlockIdx();
    b.y.SetValue(static_cast<uint64_t>(block), 1.0F);
    if (block > 0) {
        b.y.GetValue(static_cast<uint64_t>(wrong != 0 ? block - 1 : block)); // other_blocks_result
    }
}

extern "C" __global__ __aicore__ void spread_over_itself(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.Read();
    auto c = b.out.AllocTensor<float>();
    AscendC::Brcb(wrong != 0 ? a : c, a, 1, {1, 8}); // spread_over_itself
    b.in.FreeTensor(a);
    AscendC::Duplicate(c, 0.0F, N);
    b.Write(c);
}

extern "C" __global__ __aicore__ void integer_division(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto c = b.out.AllocTensor<float>();
    auto i = c.ReinterpretCast<int32_t>();
    AscendC::Duplicate(i, 6, N);
    if (wrong != 0) {
        AscendC::Div(i, i, i, N); // integer_division
    }
    AscendC::Mul(i, i, i, N);
    b.Write(c);
}

extern "C" __global__ __aicore__ void cast_without_direction(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.Read();
    auto c = b.out.AllocTensor<float>();
    AscendC::Cast(c.ReinterpretCast<int32_t>(), a, // cast_without_direction
                  wrong != 0 ? AscendC::RoundMode::CAST_NONE : AscendC::RoundMode::CAST_RINT, N);
    b.in.FreeTensor(a);
    b.Write(c);
}

extern "C" __global__ __aicore__ void opened_as_half(GM_ADDR x, GM_ADDR, int32_t wrong)
{
    AscendC::GlobalTensor<half> halves;
    AscendC::GlobalTensor<uint32_t> bits;
    if (wrong != 0) {
        halves.SetGlobalBuffer(reinterpret_cast<__gm__ half *>(x), N); // opened_as_half
    }
    bits.SetGlobalBuffer(reinterpret_cast<__gm__ uint32_t *>(x), N);
}

extern "C" __global__ __aicore__ void little_work_space(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    AscendC::TBuf<> scratch;
    b.pipe.InitBuffer(scratch, 64);
    auto a = b.Read();
    auto work = scratch.Get<float>();
    work.SetSize(wrong != 0 ? 4 : 8);
    AscendC::ReduceSum(a, a, work, N); // little_work_space
    b.in.FreeTensor(a);
}

extern "C" __global__ __aicore__ void empty_mask(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.Read();
    AscendC::Adds(a, a, 1.0F, wrong != 0 ? 65 : 64, 1, {1, 1, 8, 8}); // empty_mask
    b.in.FreeTensor(a);
}

extern "C" __global__ __aicore__ void repeats_of_two_bytes(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.Read();
    const int32_t times = wrong != 0 ? 257 : 1;
    AscendC::Adds(a, a, 1.0F, 64, times, {1, 1, 8, 8}); // repeats_of_two_bytes
    b.in.FreeTensor(a);
}

extern "C" __global__ __aicore__ void many_blocks(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.in.AllocTensor<float>();
    AscendC::DataCopyParams params(1, 8, 0, 0);
    params.blockCount = wrong != 0 ? 4096 : 1;
    AscendC::DataCopy(a, b.x, params); // many_blocks
    b.in.FreeTensor(a);
}

extern "C" __global__ __aicore__ void little_space_for_pairs(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    AscendC::TBuf<> scratch;
    b.pipe.InitBuffer(scratch, 96);
    auto a = b.Read();
    auto work = scratch.Get<float>();
    work.SetSize(wrong != 0 ? 16 : 24);
    AscendC::ReduceMax(a, a, work, N, true); // little_space_for_pairs
    b.in.FreeTensor(a);
}

extern "C" __global__ __aicore__ void cast_by_one_step(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.Read();
    auto c = b.out.AllocTensor<float>();
    auto halves = c.ReinterpretCast<half>();
    auto bytes = a.ReinterpretCast<int8_t>();
    AscendC::Cast(halves, a, AscendC::RoundMode::CAST_NONE, N);
    if (wrong != 0) {
        AscendC::Cast(bytes, a, AscendC::RoundMode::CAST_RINT, N); // cast_by_one_step
    }
    AscendC::Cast(bytes, halves, AscendC::RoundMode::CAST_RINT, N);
    AscendC::Duplicate(c, 0.0F, N);
    b.in.FreeTensor(a);
    b.Write(c);
}

extern "C" __global__ __aicore__ void shifted_up(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    AscendC::TBuf<> scratch;
    b.pipe.InitBuffer(scratch, 4 * N * sizeof(float));
    auto a = scratch.Get<float>();
    AscendC::Duplicate(a, 1.0F, 4 * N);
    AscendC::Adds(a, a[8], 1.0F, 2 * N);
    AscendC::Adds(a[2 * N], a, 1.0F, 2 * N);
    AscendC::Adds(a[wrong != 0 ? 8 : 0], a, 1.0F, 2 * N); // shifted_up
}

extern "C" __global__ __aicore__ void ninth_event(GM_ADDR, GM_ADDR, int32_t wrong)
{
    const int32_t id = wrong != 0 ? 8 : 7;
    AscendC::SetFlag<AscendC::HardEvent::V_S>(id); // ninth_event
    AscendC::WaitFlag<AscendC::HardEvent::V_S>(id);
}

/* Each block moves what the next one has to where its own is. */
extern "C" __global__ __aicore__ void moved_by_one(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    const auto block = static_cast<uint64_t>(AscendC::GetBlockIdx());
    const float next = b.y.GetValue(block + 1);
    if (wrong == 0) {
        AscendC::SyncAll();
    }
    b.y.SetValue(block, next + 1.0F); // moved_by_one
}

/* ---- what stops a program ------------------------------------------------------------------ */

extern "C" __global__ __aicore__ void wild_address(GM_ADDR x, GM_ADDR y, int32_t wrong)
{
    Bench b(x, y);
    auto a = b.in.AllocTensor<float>(); // wild_address
    *(y + (wrong != 0 ? N * 4 + 64 : 0)) = 1;
    b.in.FreeTensor(a);
}

extern "C" __global__ __aicore__ void endless(GM_ADDR, GM_ADDR y, int32_t wrong)
{
    volatile uint8_t *turning = y;
    while (wrong != 0) {
        *turning = *turning + 1;
    }
}
