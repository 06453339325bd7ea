/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of any operator's first phase, a word each. */
#pragma once

#include "call.h"
#include "registers.h"

#pragma GCC visibility push(default) /* used by the libraries of a release */

/* Add one of a kind to a message. */
void mock_word_send(struct mock_call *call, char kind, const char *name, union mock_word word);
/* Add them to a message; `names` are the parameters' names, each with its NUL. */
void mock_words_send(struct mock_call *call, const char *kinds, const char *names,
                     const union mock_word *words);

#pragma GCC visibility pop
