/* SPDX-License-Identifier: Apache-2.0 */
/* Source lines of the program, as interned text. */
#pragma once

#pragma GCC visibility push(default) /* used by the libraries of a release */

/* "file:line", the same text for the same line; NULL: no file, or there are too many lines. */
const char *mock_source_line(const char *file, int line);

#pragma GCC visibility pop
