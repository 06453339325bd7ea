/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the recorder. */
#include "threads.h"

#include <pthread.h>
#include <signal.h>

enum { STACK = 1 << 20 }; /* CANN is called on it */

bool capture_start_thread(void *(*run)(void *))
{
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK);
    const bool started = pthread_create(&thread, &attributes, run, NULL) == 0;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}
