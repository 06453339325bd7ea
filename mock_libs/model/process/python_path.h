/* SPDX-License-Identifier: Apache-2.0 */
/* Path of the Python that runs the device process. */
#pragma once

#include <stdbool.h>

/* Fill a buffer of PATH_MAX bytes with the interpreter: the one that PYACLNN_MOCK_PYTHON names,
 * that of the build, that of the environment this library is installed in, or the one that a host
 * program in Python has set. false: none is known. */
bool mock_python_find(char *python);

#pragma GCC visibility push(default) /* used by the libraries of a release */

void mock_python_set(const char *python);

#pragma GCC visibility pop
