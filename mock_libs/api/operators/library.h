/* SPDX-License-Identifier: Apache-2.0 */
/* A library of operators. Its functions are made of a generated table, whose lines
 * are OPERATOR(name, "kinds", "names", (parameters of the first phase), (a word for each)); the
 * macro OPERATORS is its name. */
#pragma once

#include "operator.h"

/* Each library's own, and hidden. */
extern const struct mock_operators mock_library;
