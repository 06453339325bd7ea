/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that runs what ranks of other processes wait for, while nobody here does: a program may
 * queue an operation and then wait, without CANN, for another process that waits for just this. */
#include "attendant.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "entry.h"
#include "lock.h"
#include "waiting.h"

static pthread_t thread;
static bool running, stopping;

static void *attend(void *unused)
{
    (void)unused;
    mock_enter();
    while (!stopping) {
        mock_attend();
    }
    mock_leave();
    return NULL;
}

void mock_attendant_start(void)
{
    sigset_t all, before;
    if (running) {
        return;
    }
    stopping = false;
    /* Signals are for the program's own threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    running = pthread_create(&thread, NULL, attend, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void mock_attendant_stop(void)
{
    mock_enter();
    const bool was_running = running;
    stopping = true;
    mock_progress();
    mock_leave();
    if (was_running) {
        pthread_join(thread, NULL);
        running = false;
    }
}

void mock_attendant_forked(void)
{
    running = false;
}
