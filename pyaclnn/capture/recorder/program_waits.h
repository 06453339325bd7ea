/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of the program: what they bring, and what they are told of. */
#pragma once

#include "functions.h"
#include "registers.h"

/* The program begins to wait, and has waited. */
void capture_await(const struct capture_function *function, const union mock_word *words);
void capture_arrived(const struct capture_function *function, const union mock_word *words, int32_t status);
/* The status and message of what it waits for, if a wait of the recorder was told of them; or 0. */
int32_t capture_kept_failure(const struct capture_function *function, const union mock_word *words,
                             const char **message);
