/* SPDX-License-Identifier: Apache-2.0 */
/* The way in and out: one lock guards all state, and who leaves does what has become due. */
#ifndef MOCK_ENTRY_H
#define MOCK_ENTRY_H

#include "acl/acl.h"

#pragma GCC visibility push(default) /* used by the libraries of a release */

/* Everything in model/ expects the caller to be between these two, unless it says otherwise. */
void mock_enter(void);
void mock_leave(void);

#pragma GCC visibility pop

#endif
