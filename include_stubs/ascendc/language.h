/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that Ascend C adds to C++, for a compiler that has never heard of them: on the host
 * there is one address space and one kind of function, so most of them mean nothing.
 */
#pragma once

#include <cassert>
#include <cstdint>
#include <cstdio>
#include <type_traits>

/* A search for kernels keeps the words that mark them. */
#ifndef PYACLNN_SEARCH
#define __aicore__
#define __global__
#define __vector__
#define __cube__
#define __mix__(cubes, vectors)
#define __gm__
#endif
#define __ubuf__
#define __cbuf__
#define __cc__
#define __ca__
#define __cb__
#define __fbuf__
#define __host__
#define __simt_vf__
#define __simt_callee__
#define __launch_bounds__(threads)
#define __inout_pipe__(...)

#define GM_ADDR __gm__ uint8_t *

namespace AscendC {
using ::printf;
/* Kernels write PRINTF(...) and AscendC::PRINTF(...). */
template <typename... Values> int PRINTF(const char *format, Values... values)
{
    return printf(format, values...);
}
namespace Std {
using namespace std;
}
template <typename T, typename U> struct IsSameType : std::is_same<T, U> {};
}
#define KERNEL_LOG(level, ...) AscendC::printf(__VA_ARGS__)
#define ASSERT(...) assert(__VA_ARGS__)
#define ASCENDC_ASSERT(condition, behavior)                                                        \
    if (!(condition)) {                                                                            \
        behavior;                                                                                  \
        assert(condition);                                                                         \
    }
/* With a format and its values, or without. */
#define ascendc_assert(condition, ...)                                                             \
    ASCENDC_ASSERT(condition, static_cast<void>(AscendC::PRINTF("" __VA_ARGS__)))
inline void trap() { __builtin_trap(); }

/* The operator's host code chooses one; a build sets it by -DTILING_KEY_VAR=key. */
#ifdef TILING_KEY_VAR
#define TILING_KEY_IS(key) (AscendC::emulation::TilingKeyIs(true, TILING_KEY_VAR, key))
#else
#define TILING_KEY_VAR 0
#define TILING_KEY_IS(key) (AscendC::emulation::TilingKeyIs(false, TILING_KEY_VAR, key))
#endif
