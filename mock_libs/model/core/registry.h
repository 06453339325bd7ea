/* SPDX-License-Identifier: Apache-2.0 */
/* Registration of the libraries of a release: its name, and their functions. */
#pragma once

#include "frame.h"

#pragma GCC visibility push(default) /* used by the other libraries of the release */

/* Functions that have work behind their gates, by their numbers; NULL: those of operators. */
void mock_functions_register(struct mock_function *functions, size_t count,
                             void (*const work[])(void));
void mock_functions_unregister(const struct mock_function *functions);

#pragma GCC visibility pop
