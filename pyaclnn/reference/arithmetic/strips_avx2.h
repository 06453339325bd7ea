// SPDX-License-Identifier: Apache-2.0
// Passes over a piece on processors of x86-64 with AVX2.
#include <stdint.h>

struct job;
struct step;

#if defined(__x86_64__)
// No processor has AVX2 without F16C, a name that older compilers do not know.
#define HAS_AVX2 __builtin_cpu_supports("avx2")
void run_with_avx2(const struct job *job, const struct step *first, const struct step *end,
                   int64_t place);
#else
#define HAS_AVX2 0
#define run_with_avx2 run_steps
#endif
