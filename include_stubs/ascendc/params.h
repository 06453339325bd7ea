/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Params: parameters of a call, which a kernel gives in order, in braces or parentheses, or one by
 * one to the fields.
 */
#pragma once

#include <cstdint>

namespace AscendC::emulation {

/* Types are those of the first fields. */
template <typename Fields, typename... Types> struct Params : Fields {
    Params() = default;
    Params(Types... values) : Fields{values...} {}
};

}  // namespace AscendC::emulation
