/* SPDX-License-Identifier: Apache-2.0 */
/* Records of broken rules. */
#pragma once

#include <pthread.h>

#include "handles.h"
#include "rule_numbers.inc"

extern pthread_mutex_t mock_violation_lock;

/* Return whether PYACLNN_MOCK_STRICT is set. */
bool mock_is_strict(void);
/* Record that the call in progress broke a rule, a number of rule_numbers.inc. The handle, or
 * address, may be NULL, and its history as well. Under PYACLNN_MOCK_STRICT the process ends here.
 * */
void mock_violate(unsigned rule, const char *what, const void *handle,
                  const struct mock_history *history, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The same of a handle that is one of a kind, or was: with what is known of its life. */
void mock_violate_object(unsigned rule, enum mock_kind kind, const void *handle, const char *format,
                         ...) __attribute__((format(printf, 4, 5)));
/* The same for a handle that is not a live one of a kind; the rule follows from what it is. NULL
 * breaks no rule. */
void mock_violate_handle(const void *handle, enum mock_kind kind, bool destroying);

/* Records of one kind of which there may be many, such as of all that is alive: on stderr they appear
 * at the end, and where they are more than a few, as one line of their numbers. */
void mock_violations_begin(void);
void mock_violations_end(unsigned rule);

#pragma GCC visibility push(default) /* used by the libraries of a release */

size_t mock_violation_count(void);
/* One record as JSON; gives its length, 0 when there is no such record. */
size_t mock_violation_read(size_t index, char *text, size_t capacity);
void mock_violation_clear(void);

#pragma GCC visibility pop
