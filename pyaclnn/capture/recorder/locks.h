/* SPDX-License-Identifier: Apache-2.0 */
/* Forks: locks that a fork waits for, in this order, and what its child forgets. */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Under them nothing of CANN is called. */
enum { CAPTURE_FILE, CAPTURE_OBJECTS, CAPTURE_LOADING, CAPTURE_LOCKS };
extern pthread_mutex_t capture_locks[CAPTURE_LOCKS];

void capture_make_condition(pthread_cond_t *condition); /* its limits are times of CLOCK_MONOTONIC */
/* Wait until a time in nanoseconds; false: it has come. */
bool capture_await_until(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until);

/* Let the child of each fork begin with a function. */
#define CAPTURE_IN_CHILD(function)                              \
    __attribute__((constructor)) static void watch_forks(void)  \
    {                                                           \
        pthread_atfork(NULL, NULL, function);                   \
    }
