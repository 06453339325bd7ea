// SPDX-License-Identifier: Apache-2.0
// Vectors of numbers, loaded and stored in the types of tensors; in vector registers on processors
// that the including file is compiled for.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "narrow_floats.h"

#if defined(WITH_AVX2)
#include <immintrin.h>
#endif

enum { SINGLE, HALF_FLOAT, BFLOAT, DOUBLE };

#define LANES 8
#define INLINE static inline __attribute__((always_inline))

typedef float lanes __attribute__((vector_size(LANES * sizeof(float)), aligned(4), may_alias));
typedef uint16_t narrow_lanes
    __attribute__((vector_size(LANES * sizeof(uint16_t)), aligned(2), may_alias));
typedef uint32_t bit_lanes __attribute__((vector_size(LANES * sizeof(uint32_t))));
// As many as a register has of float64.
#define WIDE (LANES / 2)
typedef double wide_lanes
    __attribute__((vector_size(WIDE * sizeof(double)), aligned(8), may_alias));

INLINE size_t size_of_kind(int kind)
{
    return kind == SINGLE ? sizeof(float) : sizeof(uint16_t);
}

// No function returns a vector: without AVX that is done in another way.
INLINE void load_lanes(lanes *to, int kind, const void *from)
{
    if (kind == SINGLE) {
        *to = *(const lanes *)from;
    } else if (kind == BFLOAT) {
#if defined(WITH_AVX2) // of which the compiler makes more than it does of its own
        *to = (lanes)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(from)), 16);
#else
        *to = (lanes)(__builtin_convertvector(*(const narrow_lanes *)from, bit_lanes) << 16);
#endif
    } else {
#if defined(WITH_AVX2)
        *to = _mm256_cvtph_ps(_mm_loadu_si128(from));
#else
        widen(0, from, 0, (float *)to, 1, LANES);
#endif
    }
}

INLINE void store_lanes(void *to, int kind, const lanes *from)
{
    if (kind == SINGLE) {
        *(lanes *)to = *from;
    } else if (kind == BFLOAT) {
        const bit_lanes bits = (bit_lanes)*from, nan = (bits & 0x80000000u) | 0x7FC00000u;
        const bit_lanes is_nan = (bit_lanes)(*from != *from);
        const bit_lanes rounded = bits + 0x7FFFu + (bits >> 16 & 1);
#if defined(WITH_AVX2)
        __m256i all = (__m256i)rounded;
        if (__builtin_expect(_mm256_movemask_ps((__m256)is_nan), 0)) // a branch costs less than to blend
            all = _mm256_blendv_epi8(all, (__m256i)nan, (__m256i)is_nan);
        all = _mm256_srli_epi32(all, 16);
        const __m128i high = _mm256_extracti128_si256(all, 1);
        _mm_storeu_si128(to, _mm_packus_epi32(_mm256_castsi256_si128(all), high));
#else
        const bit_lanes chosen = (nan & is_nan) | (rounded & ~is_nan);
        *(narrow_lanes *)to = __builtin_convertvector(chosen >> 16, narrow_lanes);
#endif
    } else {
#if defined(WITH_AVX2)
        _mm_storeu_si128(to, _mm256_cvtps_ph(*from, _MM_FROUND_TO_NEAREST_INT));
#else
        narrow(0, (const float *)from, to, 0, 1, LANES);
#endif
    }
}

// Fewer numbers than a vector has; the others are 0.
INLINE void load_some_lanes(lanes *to, int kind, const void *from, size_t count)
{
    unsigned char part[LANES * sizeof(float)] = {0};
    memcpy(part, from, count * size_of_kind(kind));
    load_lanes(to, kind, part);
}

INLINE void store_some_lanes(void *to, int kind, const lanes *from, size_t count)
{
    unsigned char part[LANES * sizeof(float)];
    store_lanes(part, kind, from);
    memcpy(to, part, count * size_of_kind(kind));
}

INLINE void split(wide_lanes to[2], const lanes *from)
{
#if defined(WITH_AVX2)
    to[0] = _mm256_cvtps_pd(_mm256_castps256_ps128(*from));
    to[1] = _mm256_cvtps_pd(_mm256_extractf128_ps(*from, 1));
#else
    for (size_t k = 0; k < LANES; k++)
        to[k / WIDE][k % WIDE] = (double)(*from)[k];
#endif
}
