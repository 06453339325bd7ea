/* SPDX-License-Identifier: Apache-2.0 */
/* Locks that a fork waits for, so that its child finds what they guard whole. */
#include "locks.h"

#include <time.h>

enum { SECOND = 1000000000 };

pthread_mutex_t capture_locks[CAPTURE_LOCKS] = {
    PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER,
};

void capture_make_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

bool capture_await_until(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until)
{
    const struct timespec limit = {.tv_sec = (time_t)(until / SECOND), .tv_nsec = (long)(until % SECOND)};
    return pthread_cond_timedwait(condition, lock, &limit) == 0;
}

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
