/* SPDX-License-Identifier: Apache-2.0 */
/* What a call has made, ended or chosen. */
#pragma once

#include "functions.h"
#include "objects.h"
#include "registers.h"

/* Whether a call makes, ends, chooses or changes anything. */
bool capture_matters(const struct capture_function *function);
/* Note a call; NULL: its record is not kept. */
void capture_note(const struct capture_function *function, const struct capture_call *call,
                  const union mock_word *words, uint64_t result);
/* The call that chose where the calls of this thread are, or NULL. */
struct capture_object *capture_place(void);
