/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of many threads on a vector core. Threads run one at a time, in order, each until it
 * ends or waits for the others, so that a run is the same every time.
 */
#pragma once

#include <ucontext.h>

#include <memory>

#include "ascendc/block.h"
#include "ascendc/elementwise.h"

#define LAUNCH_BOUND(threads)

namespace AscendC {
namespace Simt {

struct Dim3 {
    constexpr Dim3(uint32_t x = 1, uint32_t y = 1, uint32_t z = 1) : x(x), y(y), z(z) {}

    uint32_t x, y, z;
};

}  // namespace Simt

namespace emulation {

/* The threads of one call. */
class Threads {
 public:
    static constexpr uint32_t Most = 2048;
    Simt::Dim3 index, size;

    /* The call that runs; only its threads may ask. */
    static Threads &Current(const char *asked)
    {
        if (Slot() == nullptr) {
            Call(asked, Call::Last().site)
                .Fail(rule::Synchronisation, "it is for functions of threads: asc_vf_call, or "
                                             "Simt::VF_CALL, runs them");
        }
        return *Slot();
    }

    void Run(const Call &call, Simt::Dim3 dims, std::function<void()> function)
    {
        const uint64_t count = uint64_t{dims.x} * dims.y * dims.z;
        if (!Core::Current().chip.RegBase()) {
            call.Fail(rule::Chip, "this chip has no threads; Ascend 950 has them");
        }
        if (count == 0 || count > Most) {
            call.Fail(rule::Bounds, Text("%llu threads were asked for; there can be 1 to %u",
                                         static_cast<unsigned long long>(count), Most));
        }
        size = dims;
        function_ = std::move(function);
        std::vector<Fibre> fibres(count);
        Slot() = this;
        for (uint64_t live = count; live > 0;) {
            uint64_t waiting = 0;
            for (uint64_t i = 0; i < count; i++) {
                Resume(fibres[i], static_cast<uint32_t>(i));
                waiting += fibres[i].done ? 0 : 1;
            }
            if (waiting != 0 && waiting != count) {
                failure_ = std::make_exception_ptr(
                    Fault{rule::Synchronisation, "asc_syncthreads", "", "", {}, call.site,
                          Text("%llu of %llu threads wait here, and the others have ended",
                               static_cast<unsigned long long>(waiting),
                               static_cast<unsigned long long>(count))});
                break;
            }
            live = waiting;
        }
        Slot() = nullptr;
        if (failure_) {
            std::rethrow_exception(failure_);
        }
    }

    /* Lets the other threads come here. */
    void Wait() { swapcontext(&running_->context, &scheduler_); }

 private:
    struct Fibre {
        ucontext_t context;
        std::unique_ptr<uint8_t[]> stack;
        bool done = false;
    };
    static constexpr size_t StackBytes = 1U << 16;

    static Threads *&Slot()
    {
        static thread_local Threads *current = nullptr;
        return current;
    }

    static void Begin()
    {
        Threads &threads = *Slot();
        try {
            threads.function_();
        } catch (...) {
            threads.failure_ = std::current_exception();
        }
        threads.running_->done = true;
    }

    void Resume(Fibre &fibre, uint32_t number)
    {
        if (fibre.done || failure_) {
            fibre.done = true;
            return;
        }
        if (!fibre.stack) {
            fibre.stack = std::make_unique<uint8_t[]>(StackBytes);
            getcontext(&fibre.context);
            fibre.context.uc_stack.ss_sp = fibre.stack.get();
            fibre.context.uc_stack.ss_size = StackBytes;
            fibre.context.uc_link = &scheduler_;
            makecontext(&fibre.context, &Threads::Begin, 0);
        }
        index = {number % size.x, number / size.x % size.y, number / size.x / size.y};
        running_ = &fibre;
        swapcontext(&scheduler_, &fibre.context);
    }

    std::function<void()> function_;
    ucontext_t scheduler_;
    Fibre *running_ = nullptr;
    std::exception_ptr failure_;
};

/* Threads write through addresses: the rest of an on-chip buffer behind one counts as written. */
template <typename T> void MayWrite(T value)
{
    if constexpr (std::is_pointer_v<T>) {
        if constexpr (!std::is_const_v<std::remove_pointer_t<T>>) {
            const auto *byte = reinterpret_cast<const uint8_t *>(value);
            for (Buffer &buffer : Core::Current().buffers) {
                const uint8_t *first = &buffer.arena->bytes[buffer.begin];
                if (buffer.state != BufferState::Retired && byte >= first &&
                    byte < first + buffer.size) {
                    std::fill(buffer.arena->shadow.begin() + buffer.begin + (byte - first),
                              buffer.arena->shadow.begin() + buffer.begin + buffer.size,
                              Shadow::Written);
                    const uint64_t from = buffer.begin + static_cast<uint64_t>(byte - first);
                    buffer.arena->EachAccess(
                        from, buffer.begin + buffer.size - from, [](Accesses &accesses) {
                            accesses.Write(PIPE_V, Core::Current().clocks.Now(), 0);
                        });
                }
            }
        }
    }
}

template <auto function, typename... Values>
void RunThreads(const Call &call, Simt::Dim3 threads, Values... values)
{
    Threads().Run(call, threads, [&] { function(values...); });
    (MayWrite(values), ...);
}

inline uint32_t Axis(const Simt::Dim3 &dims, int axis)
{
    return axis == 0 ? dims.x : axis == 1 ? dims.y : dims.z;
}

}  // namespace emulation

namespace Simt {

template <auto function, typename... Values> void VF_CALL(Dim3 threads, Values... values)
{
    emulation::RunThreads<function>(emulation::Call("Simt::VF_CALL", emulation::Call::Last().site),
                                    threads, values...);
}
template <int axis = 0> uint32_t GetThreadIdx()
{
    return emulation::Axis(emulation::Threads::Current("Simt::GetThreadIdx").index, axis);
}
template <int axis = 0> uint32_t GetThreadNum()
{
    return emulation::Axis(emulation::Threads::Current("Simt::GetThreadNum").size, axis);
}
/* Blocks lie along the first axis. */
template <int axis = 0> uint32_t GetBlockIdx()
{
    return axis == 0 ? static_cast<uint32_t>(AscendC::GetBlockIdx()) : 0;
}
template <int axis = 0> uint32_t GetBlockNum()
{
    return axis == 0 ? static_cast<uint32_t>(AscendC::GetBlockNum()) : 1;
}
inline void ThreadBarrier() { emulation::Threads::Current("Simt::ThreadBarrier").Wait(); }

}  // namespace Simt
}  // namespace AscendC
