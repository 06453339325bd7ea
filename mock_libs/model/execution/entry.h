/* SPDX-License-Identifier: Apache-2.0 */
/* Entry to and exit from the model: one lock guards all state, and the exit delivers what is
 * due. */
#pragma once

#include <sys/types.h>

#include "acl/acl.h"

#pragma GCC visibility push(default) /* used by the libraries of a release */

/* Everything in model/ expects the caller to be between these two, unless stated otherwise. */
void mock_enter(void);
void mock_leave(void);

#pragma GCC visibility pop

/* Fork between the two; the child may use nothing of the model but its data, and ends by _exit. */
pid_t mock_fork(void);
