/* SPDX-License-Identifier: Apache-2.0 */
/* Start of Python as a server process. */
#pragma once

#include <sys/types.h>

/* The environment of such a process, to be freed, or NULL: no host memory. */
char **mock_python_environment(void);
/* Start `main` of a module, with descriptors (the last one followed by -1) as 3, 4 and so on,
 * whose numbers are its arguments; returns errno. */
int mock_spawn(const char *python, const char *module, const int *descriptors, pid_t *process);
/* Name what such a start needs and does not have, by the errno of `mock_spawn`. */
const char *mock_spawn_failure(const char *python, int error);
/* The same descriptor above those that the child's end up on, or -1. */
int mock_descriptor_above(int descriptor);
