/* SPDX-License-Identifier: Apache-2.0 */
/* Locks that a fork waits for, so that its child finds what they guard whole. */
#include "locks.h"

pthread_mutex_t capture_locks[CAPTURE_LOCKS] = {
    PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER,
};

static void before_fork(void)
{
    for (int i = 0; i < CAPTURE_LOCKS; i++) {
        pthread_mutex_lock(&capture_locks[i]);
    }
}

static void after_fork(void)
{
    for (int i = CAPTURE_LOCKS; i-- > 0;) {
        pthread_mutex_unlock(&capture_locks[i]);
    }
}

__attribute__((constructor)) static void start(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}
