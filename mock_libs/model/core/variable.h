/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in environment variables. */
#pragma once

/* Return the number that a variable contains, `fallback` if it is not set or empty, or -1 if it is
 * none from `least` (0 or more) to `most`. */
long mock_variable_number(const char *variable, long fallback, long least, long most);
