/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the recorder. */
#pragma once

#include <stdbool.h>

/* Start a thread that takes no signals, which are the program's threads'. False: there is none. */
bool capture_start_thread(void *(*run)(void *));
