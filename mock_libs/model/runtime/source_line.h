/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the program's source, as text that stays. */
#ifndef MOCK_SOURCE_LINE_H
#define MOCK_SOURCE_LINE_H

/* "file:line", the same text for the same line; NULL: no file, or there are too many lines. */
const char *mock_source_line(const char *file, int line);

#endif
