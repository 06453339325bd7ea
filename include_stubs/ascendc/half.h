/* SPDX-License-Identifier: Apache-2.0 */
/*
 * half: IEEE 754 binary16, and bfloat16_t: the upper half of a float. Conversions round to nearest,
 * ties to even; arithmetic between two gives one, rounded once (float holds every intermediate
 * result exactly enough for that).
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

struct HalfFormat {
    static uint16_t Bits(float value) { return HalfBits(value); }
    static float Value(uint16_t bits) { return HalfValue(bits); }
};

struct BfloatFormat {
    static uint16_t Bits(float value)
    {
        const uint32_t bits = BitCast<uint32_t>(value);
        return static_cast<uint16_t>(value == value ? (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16
                                                    : bits >> 16 | 0x40U);
    }
    static float Value(uint16_t bits) { return BitCast<float>(uint32_t{bits} << 16); }
};

/* A double has bits that float rounds away; an odd last bit remembers them. */
inline float OddFloat(double value)
{
    const float nearest = static_cast<float>(value);
    const double back = static_cast<double>(nearest);
    if (back == value || value != value || back - back != 0.0) {
        return nearest;
    }
    uint32_t bits = BitCast<uint32_t>(nearest);
    const double magnitude = value < 0 ? -value : value, rounded = value < 0 ? -back : back;
    bits -= rounded > magnitude ? 1U : 0U;
    return BitCast<float>(bits | 1U);
}

/* A floating-point number of 16 bits. */
template <typename Format> struct Narrow {
    Narrow() = default;
    Narrow(float value) : bits(Format::Bits(value)) {}
    Narrow(double value) : bits(Format::Bits(OddFloat(value))) {}
    template <typename I, std::enable_if_t<std::is_integral_v<I>, int> = 0>
    Narrow(I value) : Narrow(static_cast<double>(value))
    {
    }
    operator float() const { return Format::Value(bits); }

    Narrow operator-() const { return FromBits(static_cast<uint16_t>(bits ^ 0x8000U)); }
    Narrow &operator+=(Narrow other) { return *this = *this + other; }
    Narrow &operator-=(Narrow other) { return *this = *this - other; }
    Narrow &operator*=(Narrow other) { return *this = *this * other; }
    Narrow &operator/=(Narrow other) { return *this = *this / other; }
    friend Narrow operator+(Narrow a, Narrow b) { return float(a) + float(b); }
    friend Narrow operator-(Narrow a, Narrow b) { return float(a) - float(b); }
    friend Narrow operator*(Narrow a, Narrow b) { return float(a) * float(b); }
    friend Narrow operator/(Narrow a, Narrow b) { return float(a) / float(b); }

    static Narrow FromBits(uint16_t bits)
    {
        Narrow made;
        made.bits = bits;
        return made;
    }

    uint16_t bits;
};

}  // namespace AscendC::emulation

using half = AscendC::emulation::Narrow<AscendC::emulation::HalfFormat>;
using float16_t = half;
using bfloat16_t = AscendC::emulation::Narrow<AscendC::emulation::BfloatFormat>;

/* Two elements a byte; as a value it is the lower half of its byte. */
struct int4b_t {
    int4b_t() = default;
    explicit int4b_t(int value) : bits(static_cast<uint8_t>(value & 15)) {}
    explicit operator float() const { return static_cast<float>((bits & 15) - (bits & 8) * 2); }

    uint8_t bits;
};

namespace AscendC::emulation {

template <typename T> constexpr bool kPacked = std::is_same_v<T, int4b_t>;

/* Bytes of so many elements, and elements of so many bytes. */
template <typename T> constexpr uint64_t BytesOf(uint64_t elements)
{
    return kPacked<T> ? (elements + 1) / 2 : elements * sizeof(T);
}
template <typename T> constexpr uint64_t ElementsOf(uint64_t bytes)
{
    return kPacked<T> ? bytes * 2 : bytes / sizeof(T);
}

}  // namespace AscendC::emulation

/* With any other number it is widened, as the usual conversions do for built-in types. */
#define ASCENDC_WIDENED(op)                                                                        \
    template <typename F, typename N, std::enable_if_t<std::is_arithmetic_v<N>, int> = 0>          \
    auto operator op(AscendC::emulation::Narrow<F> a, N b)                                         \
    {                                                                                              \
        return float(a) op b;                                                                      \
    }                                                                                              \
    template <typename F, typename N, std::enable_if_t<std::is_arithmetic_v<N>, int> = 0>          \
    auto operator op(N a, AscendC::emulation::Narrow<F> b)                                         \
    {                                                                                              \
        return a op float(b);                                                                      \
    }
ASCENDC_WIDENED(+)
ASCENDC_WIDENED(-)
ASCENDC_WIDENED(*)
ASCENDC_WIDENED(/)
#undef ASCENDC_WIDENED

namespace AscendC {
using ::bfloat16_t;
using ::half;
inline float ToFloat(bfloat16_t value) { return value; }
inline bfloat16_t ToBfloat16(float value) { return value; }
}  // namespace AscendC
