/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that Ascend C adds to C++, for a compiler that has never heard of them: on the host
 * there is one address space and one kind of function, so most of them mean nothing.
 */
#pragma once

#include <cstdint>
#include <cstdio>

#define __aicore__
#define __global__
#define __gm__
#define __ubuf__
#define __cbuf__
#define __cc__
#define __ca__
#define __cb__
#define __fbuf__
#define __vector__
#define __cube__
#define __mix__(cubes, vectors)
#define __inout_pipe__(...)

#define GM_ADDR __gm__ uint8_t *

/* Blocks are vector cores here, as they are for a kernel that does no matrix work. */
#define ASCEND_IS_AIC (false)
#define ASCEND_IS_AIV (true)

namespace AscendC {
using ::printf;
}
#define PRINTF(...) AscendC::printf(__VA_ARGS__)
