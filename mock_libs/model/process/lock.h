/* SPDX-License-Identifier: Apache-2.0 */
/* The lock that guards all state of the simulated NPU, and waits for a change of it. */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

void mock_lock(void);
void mock_unlock(void);
/* The locks of a child are new: threads that wait exist in the parent only. */
void mock_lock_forked(void);

/* Wake waiting threads after progress. */
void mock_signal_progress(void);

/* Create / close the eventfd that wakes a polling thread. */
void mock_lock_enable_polling(void);
void mock_lock_disable_polling(void);

enum mock_wait_result { MOCK_PROGRESS, MOCK_NO_PROGRESS, MOCK_TIMED_OUT };

/* Release the lock until there is progress or one of the descriptors is ready, at most for a
 * short pause, and not beyond a deadline (NULL: none). */
enum mock_wait_result mock_lock_wait(const struct pollfd *descriptors, size_t count,
                               const struct timespec *deadline);
/* The moment so many milliseconds from now. */
struct timespec mock_deadline(int64_t milliseconds);
bool mock_is_earlier(const struct timespec *one, const struct timespec *other);
