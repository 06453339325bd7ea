/* SPDX-License-Identifier: Apache-2.0 */
/* The lock and its condition. */
#include "lock.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t progress;

__attribute__((constructor)) static void make_condition(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&progress, &attributes);
    pthread_condattr_destroy(&attributes);
}

void mock_lock(void)
{
    pthread_mutex_lock(&lock);
}

void mock_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void mock_lock_forked(void)
{
    make_condition();
}

void mock_progress(void)
{
    pthread_cond_broadcast(&progress);
}

struct timespec mock_deadline(int64_t milliseconds)
{
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += (time_t)(milliseconds / 1000);
    deadline.tv_nsec += (long)(milliseconds % 1000) * 1000000L;
    if (deadline.tv_nsec >= 1000000000L) {
        deadline.tv_sec += 1;
        deadline.tv_nsec -= 1000000000L;
    }
    return deadline;
}

static bool is_earlier(const struct timespec *one, const struct timespec *other)
{
    return one->tv_sec < other->tv_sec ||
           (one->tv_sec == other->tv_sec && one->tv_nsec < other->tv_nsec);
}

bool mock_wait_progress(const struct timespec *deadline)
{
    const struct timespec pause = mock_deadline(100);
    if (deadline == NULL || is_earlier(&pause, deadline)) {
        pthread_cond_timedwait(&progress, &lock, &pause);
        return true;
    }
    return pthread_cond_timedwait(&progress, &lock, deadline) != ETIMEDOUT;
}
