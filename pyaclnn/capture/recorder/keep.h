/* SPDX-License-Identifier: Apache-2.0 */
/* What a call has made, ended or chosen, for a trace that begins later. */
#pragma once

#include "functions.h"
#include "living.h"
#include "registers.h"

/* Whether a call matters to a trace that begins later. */
bool capture_matters(const struct capture_function *function);
/* Note a call; place: that which chose where it is, and is replaced by another such. */
void capture_note(const struct capture_function *function, const struct capture_call *call,
                  struct capture_call *place, const union mock_word *words, uint64_t result);
