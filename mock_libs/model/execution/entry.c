/* SPDX-License-Identifier: Apache-2.0 */
/* Entry to and exit from the model, and its lock across a fork. */
#include "entry.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#include "device_process.h"
#include "exception.h"
#include "fault.h"
#include "functions.h"
#include "live_objects.h"
#include "lock.h"
#include "poll_source.h"
#include "stream_wait.h"
#include "violation.h"

void mock_enter(void)
{
    mock_lock();
}

void mock_leave(void)
{
    struct mock_exception_callbacks callbacks;
    mock_advance_eagerly();
    struct rtExceptionInfo *exceptions = mock_exception_take(&callbacks);
    mock_unlock();
    mock_exception_deliver(exceptions, &callbacks);
}

/* In a child, what another thread of the parent held would stay locked for ever. */
static pthread_mutex_t *const SMALL[] = {&mock_functions_lock, &mock_fault_lock,
                                         &mock_violation_lock};
enum { SMALL_COUNT = sizeof SMALL / sizeof SMALL[0] };

static _Thread_local bool forks_in_model; /* and has the lock */

static void before_fork(void)
{
    if (forks_in_model) {
        return;
    }
    mock_lock();
    for (int i = 0; i < SMALL_COUNT; i++) {
        pthread_mutex_lock(SMALL[i]);
    }
}

static void after_fork(void)
{
    if (forks_in_model) {
        return;
    }
    for (int i = SMALL_COUNT - 1; i >= 0; i--) {
        pthread_mutex_unlock(SMALL[i]);
    }
    mock_unlock();
}

static void after_fork_in_child(void)
{
    if (forks_in_model) {
        return;
    }
    mock_lock_forked();
    mock_process_forked();
    mock_poll_source_forked();
    mock_live_objects_forget();
    after_fork();
}

pid_t mock_fork(void)
{
    forks_in_model = true;
    const pid_t child = fork();
    forks_in_model = false;
    return child;
}

__attribute__((constructor)) static void set_up(void)
{
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* After everything else: the destructors of the other mock libraries run before. */
__attribute__((destructor)) static void at_exit(void)
{
    mock_enter();
    /* The abandoned objects could not have been released without a wait. */
    if (!mock_stream_any_given_up()) {
        mock_live_objects_report(MOCK_ALIVE_AT_EXIT);
    }
    mock_leave();
}
