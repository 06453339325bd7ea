/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that Ascend C adds to C++, for a compiler that has never heard of them: on the host
 * there is one address space and one kind of function, so most of them mean nothing.
 */
#pragma once

#include <cstdint>

#define __aicore__
#define __global__
#define __gm__
#define __ubuf__

#define GM_ADDR __gm__ uint8_t *

/* Blocks are vector cores here, as they are for a kernel that does no matrix work. */
#define ASCEND_IS_AIC (false)
#define ASCEND_IS_AIV (true)
