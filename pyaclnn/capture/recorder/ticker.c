/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that writes what waits to be written. */
#include "ticker.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

#include "arrived.h"
#include "file.h"
#include "locks.h"

enum { STACK = 256 << 10, TICK = 100000000, SECOND = 1000000000 };

static bool ticking;

/* A block is written a tenth of a second after its first record, though no other call arrives; a call
 * that has not returned in a second may never do so. */
static void *tick(void *unused)
{
    while (capture_active()) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += TICK;
        until.tv_sec += until.tv_nsec / SECOND;
        until.tv_nsec %= SECOND;
        capture_tick(&until);
        capture_write_arrived();
    }
    __atomic_store_n(&ticking, false, __ATOMIC_RELEASE);
    return unused;
}

/* Signals are the program's threads'. */
static void start_thread(void)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_create(&thread, &attributes, tick, NULL); /* without it other calls write the blocks */
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void capture_keep_ticking(void)
{
    if (!__atomic_load_n(&ticking, __ATOMIC_RELAXED) &&
        !__atomic_exchange_n(&ticking, true, __ATOMIC_ACQUIRE)) {
        start_thread();
    }
}

/* A child of a fork has none of the other threads. */
static void forget_thread(void)
{
    ticking = false;
}
CAPTURE_IN_CHILD(forget_thread)
