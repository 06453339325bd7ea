/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Casts that a chip has, and the round modes that each of them takes.
 */
#pragma once

#include "ascendc/elementwise.h"

namespace AscendC {

enum class RoundMode : uint8_t {
    CAST_NONE = 0,
    CAST_RINT,  /* to nearest, ties to even */
    CAST_FLOOR, /* towards minus infinity */
    CAST_CEIL,  /* towards plus infinity */
    CAST_ROUND, /* to nearest, ties away from zero */
    CAST_TRUNC, /* towards zero */
    CAST_ODD    /* to odd, of the two neighbours */
};

namespace emulation {

/* The casts of Ascend 910B and 910C. */
template <typename S, typename D>
constexpr bool kCasts =
    (std::is_same_v<S, half> && OneOf<D, float, int32_t, int16_t, int8_t, uint8_t, int4b_t>()) ||
    (std::is_same_v<S, float> && OneOf<D, float, half, bfloat16_t, int64_t, int32_t, int16_t>()) ||
    (std::is_same_v<S, bfloat16_t> && OneOf<D, float, int32_t>()) ||
    (OneOf<S, int4b_t, uint8_t, int8_t>() && std::is_same_v<D, half>) ||
    (std::is_same_v<S, int16_t> && OneOf<D, half, float>()) ||
    (std::is_same_v<S, int32_t> && OneOf<D, float, half, int64_t, int16_t>()) ||
    (std::is_same_v<S, int64_t> && OneOf<D, int32_t, float>());

/* Advice: the type through which two casts lead. */
template <typename D, typename S> constexpr const char *WayOf()
{
    return kCasts<S, half> && kCasts<half, D>     ? ": cast to half first"
           : kCasts<S, float> && kCasts<float, D> ? ": cast to float first"
                                                  : "";
}

/*
 * What widens loses nothing and knows CAST_NONE only; what becomes an integer, or a float without a
 * fraction, needs a direction.
 */
template <typename D, typename S> void RequireCast(const Call &call, RoundMode mode)
{
    const Family family = Core::Current().chip.family;
    if (!kCasts<S, D> && (family == Family::A2 || family == Family::A3)) {
        call.Fail(rule::Dtype, Text("there is no Cast from %s to %s on this chip%s", TypeName<S>(),
                                    TypeName<D>(), WayOf<D, S>()));
    }
    constexpr bool integers = std::is_integral_v<S> && std::is_integral_v<D>;
    constexpr bool exact = (sizeof(S) == 2 && std::is_same_v<D, float>) ||
                           (integers && sizeof(S) < sizeof(D));
    constexpr bool to_integer =
        !std::is_integral_v<S> && (std::is_integral_v<D> || std::is_same_v<S, D>);
    if constexpr ((std::is_same_v<S, D> && !std::is_same_v<S, float>) ||
                  (kPacked<S> && !std::is_same_v<D, half>) ||
                  (kPacked<D> && !std::is_same_v<S, half>)) {
        call.Fail(rule::Dtype,
                  Text("there is no Cast from %s to %s", TypeName<S>(), TypeName<D>()));
    }
    if (std::is_same_v<S, int32_t> && std::is_same_v<D, half> && !Core::Current().deq_scale) {
        call.Fail(rule::Dtype, "int32_t to half multiplies by a scale that nothing has set: call "
                               "SetDeqScale(half(1.0)) or another one before it");
    }
    if (exact && mode != RoundMode::CAST_NONE) {
        call.Fail(rule::Dtype, Text("%s to %s is exact: the round mode must be CAST_NONE",
                                    TypeName<S>(), TypeName<D>()));
    }
    /* Integers of 8 bits come from half, and a count of CAST_NONE rounds there as CAST_RINT. */
    if (to_integer && sizeof(D) > 1 &&
        (mode == RoundMode::CAST_NONE || mode == RoundMode::CAST_ODD)) {
        call.Fail(rule::Dtype, Text("%s to %s needs one of the round modes CAST_RINT, CAST_FLOOR, "
                                    "CAST_CEIL, CAST_ROUND and CAST_TRUNC",
                                    TypeName<S>(), TypeName<D>()));
    }
}

}  // namespace emulation
}  // namespace AscendC
