/* SPDX-License-Identifier: Apache-2.0 */
/* The one lock that guards all state of the simulated NPU, and waiting for a change of it. */
#ifndef MOCK_LOCK_H
#define MOCK_LOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

void mock_lock(void);
void mock_unlock(void);
/* The locks of a child are new: threads that wait exist in the parent only. */
void mock_lock_forked(void);

/* Tells waiting threads that something moved. */
void mock_progress(void);
/* Waits for mock_progress, but not long: a caller looks for lost devices now and then. false when
 * the deadline (NULL: none) has passed. */
bool mock_wait_progress(const struct timespec *deadline);
/* The moment so many milliseconds from now. */
struct timespec mock_deadline(int64_t milliseconds);

#endif
