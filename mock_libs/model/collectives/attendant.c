/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that runs what ranks of other processes wait for, while nobody here does: a program may
 * queue an operation and then wait, without CANN, for another process that waits for just this. */
#include "attendant.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "entry.h"
#include "lock.h"
#include "waiting.h"

static pthread_t thread;
static bool running;
static unsigned current; /* number of the thread that is to run; an older one ends */

static void *attend(void *number)
{
    const uintptr_t own = (uintptr_t)number;
    mock_enter();
    while (own == current) {
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
    current++;
    /* Signals are for the program's own threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    running = pthread_create(&thread, NULL, attend, (void *)(uintptr_t)current) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool mock_attendant_dismiss(pthread_t *dismissed)
{
    const bool was_running = running;
    *dismissed = thread;
    running = false;
    current++;
    mock_progress();
    return was_running;
}

void mock_attendant_forked(void)
{
    running = false;
}
