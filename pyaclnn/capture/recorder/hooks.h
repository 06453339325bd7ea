/* SPDX-License-Identifier: Apache-2.0 */
/* What the recorder does at functions besides recording them: contents, operands, graphs. */
#pragma once

#include "functions.h"
#include "registers.h"

void capture_before(const struct capture_function *function, uint64_t call,
                    const union mock_word *words);
void capture_after(const struct capture_function *function, uint64_t call,
                   const union mock_word *words, uint64_t result);
