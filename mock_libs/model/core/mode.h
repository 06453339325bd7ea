/* SPDX-License-Identifier: Apache-2.0 */
/* PYACLNN_MOCK_MODE: order and time of the execution of streams. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Return whether streams run in a seeded random order, task by task; whether work runs at once. */
bool mock_is_shuffled(void);
bool mock_is_eager(void);
/* A random number of the seeded order. */
uint64_t mock_mode_random(void);
#pragma GCC visibility push(default) /* used by the libraries of a release */

/* Change the mode and starts its random order anew; false: there is no such mode. */
bool mock_mode_set(const char *text);

#pragma GCC visibility pop

/* Why PYACLNN_MOCK_MODE cannot be used, or NULL. */
const char *mock_mode_config_error(void);
