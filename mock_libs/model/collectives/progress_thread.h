/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that runs what ranks of other processes wait for, while nobody here does. */
#ifndef MOCK_PROGRESS_THREAD_H
#define MOCK_PROGRESS_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* Starts the thread, unless there is one. */
void mock_progress_thread_start(void);
/* Lets it go, if there is one: then the caller joins it, without the lock. */
bool mock_progress_thread_stop(pthread_t *dismissed);
/* A child has no such thread. */
void mock_progress_thread_forked(void);

#endif
