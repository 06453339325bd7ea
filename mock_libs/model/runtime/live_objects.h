/* SPDX-License-Identifier: Apache-2.0 */
/* What is alive: at aclFinalize, when a device closes, at the end, and for whoever asks. */
#ifndef MOCK_LIVE_OBJECTS_H
#define MOCK_LIVE_OBJECTS_H

#include "violation.h"

/* Reports what is alive that was not reported before. */
void mock_live_objects_report(enum mock_rule rule);
/* A forked child is not to be blamed for what its parent holds. */
void mock_live_objects_forget(void);
#pragma GCC visibility push(default) /* used by the libraries of a release */

/* Lines of "kind handle function-that-made-it source-line"; gives the length of the whole text. */
size_t mock_live_objects_list(char *text, size_t capacity);

#pragma GCC visibility pop

#endif
