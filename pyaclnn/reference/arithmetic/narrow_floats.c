// SPDX-License-Identifier: Apache-2.0
// Rounding is to the nearest, ties to even. A float16 NaN keeps its sign and the upper bits of its
// payload and becomes quiet, as processors have it; bfloat16 gets one NaN of each sign, as ml_dtypes
// has it.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "narrow_floats.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef void widen_row(const uint16_t *narrow, float *wide, size_t count);
typedef void narrow_row(const float *wide, uint16_t *narrow, size_t count);

int portable = 0;

static inline float single_of(uint32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static inline uint32_t bits_of(float number)
{
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static inline float single_of_half(uint16_t half)
{
    const uint32_t sign = (half & 0x8000u) << 16;
    const uint32_t exponent = half & 0x7C00u, fraction = half & 0x03FFu;
    if (exponent == 0x7C00u)
        return single_of(sign | 0x7F800000u | (fraction ? 0x00400000u : 0) | fraction << 13);
    if (exponent == 0)
        return single_of(sign | bits_of((float)fraction * 0x1p-24f));
    return single_of(sign | (((exponent | fraction) << 13) + (112u << 23)));
}

static inline uint16_t half_of_single(float single)
{
    const uint32_t bits = bits_of(single), size = bits & 0x7FFFFFFFu;
    uint32_t half = 0;
    if (size > 0x7F800000u) {
        half = 0x7E00u | (size >> 13 & 0x03FFu);
    } else if (size >= 0x47800000u) { // 2**16, beyond the largest
        half = 0x7C00u;
    } else if (size >= 0x38800000u) { // 2**-14, the smallest that is not subnormal
        half = (size + 0x0FFFu + (size >> 13 & 1) - (112u << 23)) >> 13;
    } else if (size > 0x33000000u) { // 2**-25, half of the smallest
        const uint32_t fraction = (size & 0x007FFFFFu) | 0x00800000u, shift = 126 - (size >> 23);
        const uint32_t tie = 1u << (shift - 1), rest = fraction & (2 * tie - 1);
        half = fraction >> shift;
        half += rest > tie || (rest == tie && (half & 1));
    }
    return (uint16_t)((bits >> 16 & 0x8000u) | half);
}

static inline uint16_t bfloat_of_single(float single)
{
    const uint32_t bits = bits_of(single);
    const uint32_t nan = 0x7FC0u | (bits >> 16 & 0x8000u);
    const uint32_t rounded = (bits + 0x7FFFu + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7FFFFFFFu) > 0x7F800000u ? nan : rounded);
}

static void widen_halves(const uint16_t *narrow, float *wide, size_t count)
{
    for (size_t i = 0; i < count; i++)
        wide[i] = single_of_half(narrow[i]);
}

static void widen_bfloats(const uint16_t *narrow, float *wide, size_t count)
{
    for (size_t i = 0; i < count; i++)
        wide[i] = single_of((uint32_t)narrow[i] << 16);
}

static void narrow_to_halves(const float *wide, uint16_t *narrow, size_t count)
{
    for (size_t i = 0; i < count; i++)
        narrow[i] = half_of_single(wide[i]);
}

static void narrow_to_bfloats(const float *wide, uint16_t *narrow, size_t count)
{
    for (size_t i = 0; i < count; i++)
        narrow[i] = bfloat_of_single(wide[i]);
}

#if defined(__x86_64__)

// No processor has AVX2 without F16C, a name that older compilers do not know.
#define NATIVE __builtin_cpu_supports("avx2")

__attribute__((target("avx2,f16c"))) static void
widen_halves_natively(const uint16_t *narrow, float *wide, size_t count)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm256_storeu_ps(wide + i, _mm256_cvtph_ps(_mm_loadu_si128((const void *)(narrow + i))));
    for (; i < count; i++)
        wide[i] = _cvtsh_ss(narrow[i]);
}

__attribute__((target("avx2,f16c"))) static void
narrow_to_halves_natively(const float *wide, uint16_t *narrow, size_t count)
{
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        _mm_storeu_si128((void *)(narrow + i),
                         _mm256_cvtps_ph(_mm256_loadu_ps(wide + i), _MM_FROUND_TO_NEAREST_INT));
    for (; i < count; i++)
        narrow[i] = (uint16_t)_cvtss_sh(wide[i], _MM_FROUND_TO_NEAREST_INT);
}

// The same once more, for the compiler to make more of.
__attribute__((target("avx2"))) static void
widen_bfloats_natively(const uint16_t *narrow, float *wide, size_t count)
{
    for (size_t i = 0; i < count; i++)
        wide[i] = single_of((uint32_t)narrow[i] << 16);
}

__attribute__((target("avx2"))) static void
narrow_to_bfloats_natively(const float *wide, uint16_t *narrow, size_t count)
{
    for (size_t i = 0; i < count; i++)
        narrow[i] = bfloat_of_single(wide[i]);
}

#elif defined(__aarch64__)

#define NATIVE 1
#define widen_bfloats_natively widen_bfloats
#define narrow_to_bfloats_natively narrow_to_bfloats

static void widen_halves_natively(const uint16_t *narrow, float *wide, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        __fp16 half;
        memcpy(&half, narrow + i, sizeof half);
        wide[i] = (float)half;
    }
}

static void narrow_to_halves_natively(const float *wide, uint16_t *narrow, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const __fp16 half = (__fp16)wide[i];
        memcpy(narrow + i, &half, sizeof half);
    }
}

#else

#define NATIVE 0
#define widen_bfloats_natively widen_bfloats
#define widen_halves_natively widen_halves
#define narrow_to_halves_natively narrow_to_halves
#define narrow_to_bfloats_natively narrow_to_bfloats

#endif

void widen(int bfloat, const uint16_t *narrow, ptrdiff_t stride, float *wide, size_t rows,
           size_t columns)
{
    const int native = !portable && NATIVE;
    widen_row *const half = native ? widen_halves_natively : widen_halves;
    widen_row *const bfloats = native ? widen_bfloats_natively : widen_bfloats;
    widen_row *const convert = bfloat ? bfloats : half;
    for (size_t row = 0; row < rows; row++)
        convert(narrow + (ptrdiff_t)row * stride, wide + row * columns, columns);
}

void narrow(int bfloat, const float *wide, uint16_t *narrow, ptrdiff_t stride, size_t rows,
            size_t columns)
{
    const int native = !portable && NATIVE;
    narrow_row *const half = native ? narrow_to_halves_natively : narrow_to_halves;
    narrow_row *const bfloats = native ? narrow_to_bfloats_natively : narrow_to_bfloats;
    narrow_row *const convert = bfloat ? bfloats : half;
    for (size_t row = 0; row < rows; row++)
        convert(wide + row * columns, narrow + (ptrdiff_t)row * stride, columns);
}
