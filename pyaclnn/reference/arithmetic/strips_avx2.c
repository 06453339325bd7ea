// SPDX-License-Identifier: Apache-2.0
#include "strips_avx2.h"

#if defined(__x86_64__)
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,f16c"))), apply_to = function)
#else
#pragma GCC target("avx2,f16c")
#endif
#define WITH_AVX2 1
#include "strip_passes.h"

void run_with_avx2(const struct job *job, const struct step *first, const struct step *end,
                   int64_t place)
{
    run_steps(job, first, end, place);
}

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
