/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of functions of threads in C's manner: their places, a barrier, atomic operations.
 * Threads run one at a time, so that an atomic operation is an ordinary one.
 */
#pragma once

#include "acl/rt/dimensions.h"
#include "ascendc/simt.h"

#if ACL_STUBS_CANN < 901
using dim3 = AscendC::Simt::Dim3;
#endif

namespace AscendC::emulation {

/* A number that is asked for when it is read. It cannot be passed to printf: convert it. */
template <auto get> struct Asked {
    Asked() = default;
    Asked(const Asked &) {}
    operator uint32_t() const { return get(); }
};

}  // namespace AscendC::emulation

/* Objects, not macros: a program's own variable of the name hides one. */
#define ASCENDC_PLACE(name, ...)                                                                   \
    inline struct {                                                                                \
        AscendC::emulation::Asked<&AscendC::Simt::Get##__VA_ARGS__<0>> x;                          \
        AscendC::emulation::Asked<&AscendC::Simt::Get##__VA_ARGS__<1>> y;                          \
        AscendC::emulation::Asked<&AscendC::Simt::Get##__VA_ARGS__<2>> z;                          \
    } name;
ASCENDC_PLACE(threadIdx, ThreadIdx)
ASCENDC_PLACE(blockDim, ThreadNum)
ASCENDC_PLACE(blockIdx, BlockIdx)
ASCENDC_PLACE(gridDim, BlockNum)
#undef ASCENDC_PLACE

template <auto function, typename... Values> void asc_vf_call(dim3 threads, Values... values)
{
    using namespace AscendC::emulation;
    const AscendC::Simt::Dim3 dims(threads.x, threads.y, threads.z);
    RunThreads<function>(Call("asc_vf_call", Call::Last().site), dims, values...);
}

inline void asc_syncthreads() { AscendC::emulation::Threads::Current("asc_syncthreads").Wait(); }
inline void asc_threadfence() {}

/* Name, new value of the old one and the operand; the old one is returned. */
#define ASCENDC_ATOMIC(name, value)                                                                \
    template <typename T>                                                                          \
    T asc_atomic_##name(T *address, AscendC::emulation::Scalar<T> operand)                         \
    {                                                                                              \
        const T old = *address;                                                                    \
        *address = static_cast<T>(value);                                                          \
        return old;                                                                                \
    }
ASCENDC_ATOMIC(add, old + operand)
ASCENDC_ATOMIC(sub, old - operand)
ASCENDC_ATOMIC(max, old < operand ? operand : old)
ASCENDC_ATOMIC(min, operand < old ? operand : old)
ASCENDC_ATOMIC(exch, operand)
#undef ASCENDC_ATOMIC

template <typename T>
T asc_atomic_cas(T *address, AscendC::emulation::Scalar<T> expected,
                 AscendC::emulation::Scalar<T> desired)
{
    const T old = *address;
    *address = old == expected ? desired : old;
    return old;
}
