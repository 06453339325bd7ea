/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of errors and the last error of a thread. Needs no lock. */
#pragma once

#include <stdbool.h>

#include "acl/acl.h"

/* Record a text for aclGetRecentErrMsg and, for a code of the runtime layer, the thread's last
 * error; returns the code. */
aclError mock_fail(aclError code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A text without its leading message code, if it has one. */
const char *mock_message_body(const char *text);

#pragma GCC visibility push(default) /* used by the libraries of a release */

/* Record a text, with an alternative where there is one, and return MOCK_NOT_IMPLEMENTED. */
int mock_unimplemented(const char *function);

#pragma GCC visibility pop

/* The text, which stays valid until the call after the next one, or NULL. */
const char *mock_message_take(void);
aclError mock_last_error(bool forget);
