/* SPDX-License-Identifier: Apache-2.0 */
/* Which Python runs the device process. */
#ifndef MOCK_PYTHON_H
#define MOCK_PYTHON_H

/* Fills a buffer of PATH_MAX bytes with the interpreter. */
void mock_find_python(char *python);

#endif
