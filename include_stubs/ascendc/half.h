/* SPDX-License-Identifier: Apache-2.0 */
/*
 * half: IEEE 754 binary16. Conversions round to nearest, ties to even; arithmetic between halves
 * gives a half, rounded once (float holds every intermediate result exactly enough for that).
 */
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace AscendC::emulation {

template <typename To, typename From> inline To BitCast(const From &value)
{
    static_assert(sizeof(To) == sizeof(From));
    To result;
    std::memcpy(&result, &value, sizeof result);
    return result;
}

/* The 16 bits of a float, rounded to nearest even. */
inline uint16_t HalfBits(float value)
{
    const uint32_t bits = BitCast<uint32_t>(value);
    const uint32_t sign = (bits >> 16) & 0x8000U;
    const uint32_t magnitude = bits & 0x7FFFFFFFU;
    if (magnitude > 0x7F800000U) { /* NaN: keep what fits of its payload, and keep it a NaN */
        return static_cast<uint16_t>(sign | 0x7E00U | ((magnitude >> 13) & 0x1FFU));
    }
    if (magnitude >= 0x477FF000U) { /* from 65520 on: infinity */
        return static_cast<uint16_t>(sign | 0x7C00U);
    }
    uint32_t shift = 13, significand = magnitude & 0x7FFFFFU, exponent = 0;
    if (magnitude >= 0x38800000U) { /* normal */
        exponent = (magnitude >> 23) - 112;
    } else { /* subnormal: the hidden bit becomes visible and moves down */
        const uint32_t down = 113 - (magnitude >> 23);
        if (down > 12) {
            return static_cast<uint16_t>(sign);
        }
        significand |= 0x800000U;
        shift += down;
    }
    const uint32_t kept = (exponent << 10) + (significand >> shift);
    const uint32_t rest = significand & ((1U << shift) - 1U), tie = 1U << (shift - 1);
    const bool up = rest > tie || (rest == tie && (kept & 1U) != 0);
    return static_cast<uint16_t>(sign | (kept + (up ? 1U : 0U)));
}

/* A double has bits that float rounds away; an odd last bit remembers them. */
inline uint16_t HalfBits(double value)
{
    const float nearest = static_cast<float>(value);
    const double back = static_cast<double>(nearest);
    if (back == value || value != value || back - back != 0.0) {
        return HalfBits(nearest);
    }
    uint32_t bits = BitCast<uint32_t>(nearest);
    const double magnitude = value < 0 ? -value : value, rounded = value < 0 ? -back : back;
    bits -= rounded > magnitude ? 1U : 0U;
    return HalfBits(BitCast<float>(bits | 1U));
}

inline float HalfValue(uint16_t bits)
{
    const uint32_t sign = (bits & 0x8000U) << 16;
    const uint32_t exponent = (bits >> 10) & 0x1FU, significand = bits & 0x3FFU;
    if (exponent == 0) { /* zero or subnormal: a multiple of 2^-24, exact in float */
        const float size = static_cast<float>(significand) * 5.9604644775390625e-8F;
        return sign != 0 ? -size : size;
    }
    const uint32_t widened = exponent == 0x1FU ? 0xFFU : exponent + 112;
    return BitCast<float>(sign | (widened << 23) | (significand << 13));
}

}  // namespace AscendC::emulation

struct half {
    half() = default;
    half(float value) : bits(AscendC::emulation::HalfBits(value)) {}
    half(double value) : bits(AscendC::emulation::HalfBits(value)) {}
    template <typename I, std::enable_if_t<std::is_integral_v<I>, int> = 0>
    half(I value) : half(static_cast<double>(value))
    {
    }
    operator float() const { return AscendC::emulation::HalfValue(bits); }

    half operator-() const { return FromBits(static_cast<uint16_t>(bits ^ 0x8000U)); }
    half &operator+=(half other) { return *this = half(float(*this) + float(other)); }
    half &operator-=(half other) { return *this = half(float(*this) - float(other)); }
    half &operator*=(half other) { return *this = half(float(*this) * float(other)); }
    half &operator/=(half other) { return *this = half(float(*this) / float(other)); }

    static half FromBits(uint16_t bits)
    {
        half made;
        made.bits = bits;
        return made;
    }

    uint16_t bits;
};

using float16_t = half;

inline half operator+(half a, half b) { return a += b; }
inline half operator-(half a, half b) { return a -= b; }
inline half operator*(half a, half b) { return a *= b; }
inline half operator/(half a, half b) { return a /= b; }

/* With any other number the half is widened, as the usual conversions do for built-in types. */
template <typename N> using IfNumber = std::enable_if_t<std::is_arithmetic_v<N>, int>;
template <typename N, IfNumber<N> = 0> auto operator+(half a, N b) { return float(a) + b; }
template <typename N, IfNumber<N> = 0> auto operator-(half a, N b) { return float(a) - b; }
template <typename N, IfNumber<N> = 0> auto operator*(half a, N b) { return float(a) * b; }
template <typename N, IfNumber<N> = 0> auto operator/(half a, N b) { return float(a) / b; }
template <typename N, IfNumber<N> = 0> auto operator+(N a, half b) { return a + float(b); }
template <typename N, IfNumber<N> = 0> auto operator-(N a, half b) { return a - float(b); }
template <typename N, IfNumber<N> = 0> auto operator*(N a, half b) { return a * float(b); }
template <typename N, IfNumber<N> = 0> auto operator/(N a, half b) { return a / float(b); }
