/* SPDX-License-Identifier: Apache-2.0 */
/* Progress thread: runs operations that ranks of other processes wait for. A program may queue
 * an operation and then wait, outside CANN, for another process that waits for this operation. */
#include "progress_thread.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "entry.h"
#include "lock.h"
#include "stream_wait.h"

static pthread_t thread;
static bool running;
static unsigned current; /* number of the thread that is to run; an older one ends */

static void *thread_main(void *number)
{
    const uintptr_t own = (uintptr_t)number;
    mock_enter();
    while (own == current) {
        mock_run_awaited_or_wait();
    }
    mock_leave();
    return NULL;
}

void mock_progress_thread_start(void)
{
    sigset_t all, before;
    if (running) {
        return;
    }
    current++;
    /* Signals are for the program's own threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    running = pthread_create(&thread, NULL, thread_main, (void *)(uintptr_t)current) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool mock_progress_thread_stop(pthread_t *dismissed)
{
    const bool was_running = running;
    *dismissed = thread;
    running = false;
    current++;
    mock_signal_progress();
    return was_running;
}

void mock_progress_thread_forked(void)
{
    running = false;
}
