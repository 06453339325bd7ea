/* SPDX-License-Identifier: Apache-2.0 */
/* Progress thread: runs operations that ranks of other processes wait for. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

/* Start the thread, unless there is one. */
void mock_progress_thread_start(void);
/* Stop the thread, if there is one: then the caller joins it, without the lock. */
bool mock_progress_thread_stop(pthread_t *dismissed);
/* Forget the thread in a forked child. */
void mock_progress_thread_forked(void);
