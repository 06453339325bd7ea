/* SPDX-License-Identifier: Apache-2.0 */
/* Live objects: reported at aclFinalize, when a device closes, at exit, and on request. */
#pragma once

#include "violation.h"

/* Report live objects that were not reported before. */
void mock_live_objects_report(enum mock_rule rule);
/* Ignore the objects of the parent in a forked child. */
void mock_live_objects_forget(void);
#pragma GCC visibility push(default) /* used by the libraries of a release */

/* Lines of "kind handle function-that-made-it source-line"; gives the length of the whole text. */
size_t mock_live_objects_list(char *text, size_t capacity);

#pragma GCC visibility pop
