/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of exported functions, one a library, and how often each was called. */
#pragma once

#include <pthread.h>

#include "frame.h"

/* State that is used without the global lock has a lock of its own: these tables, the faults,
 * the violations. A thread that holds one takes no other; a fork takes all of them. */
extern pthread_mutex_t mock_functions_lock;

#pragma GCC visibility push(default) /* used by the libraries of a release */

void mock_functions_add(struct mock_function *functions, size_t count);
void mock_functions_drop(const struct mock_function *functions);
/* Lines of "name count" for every function; gives the length of the whole text. */
size_t mock_functions_list(char *text, size_t capacity);
void mock_functions_reset(void);
/* Lines of "name operator|works|refuses", likewise. */
size_t mock_functions_states(char *text, size_t capacity);

#pragma GCC visibility pop
