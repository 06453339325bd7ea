/* SPDX-License-Identifier: Apache-2.0 */
/* Start of Python as a server process. */
#ifndef MOCK_PYTHON_PROCESS_H
#define MOCK_PYTHON_PROCESS_H

#include <sys/types.h>

/* Start `main` of a module, with descriptors (the last one followed by -1) as 3, 4 and so on,
 * whose numbers are its arguments; returns errno. */
int mock_spawn(const char *python, const char *module, const int *descriptors, pid_t *process);
/* The same descriptor above those that the child's end up on, or -1. */
int mock_descriptor_above(int descriptor);

#endif
