// SPDX-License-Identifier: Apache-2.0
// Threads are started when there is work for them, and kept. One job at a time has their help; a
// caller that comes meanwhile works alone. A forked child has none, and starts its own. To wake one
// takes as long as some hundred thousand elements, so each looks for the next job before it sleeps.
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "shared_job.h"

#define MOST_HELPERS 63
#define LOOK_NANOSECONDS 30000

struct job {
    const struct shared *work;
    atomic_llong next, done; // pieces that are taken, and pieces that are done
    atomic_llong open;       // rounds that may begin
    int wanted, helpers; // under the lock
    atomic_int busy;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t offered = PTHREAD_COND_INITIALIZER;
static _Atomic(struct job *) offer; // the job that wants help, changed under the lock
static int started;

static void work_on(struct job *job)
{
    const struct shared *const work = job->work;
    const int64_t all = work->rounds * work->pieces;
    for (;;) {
        const int64_t taken = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
        if (taken >= all)
            return;
        const int64_t round = taken / work->pieces;
        // Another thread is in the middle of a piece, which is short.
        while (atomic_load_explicit(&job->open, memory_order_acquire) < round)
            sched_yield();
        work->work(work->context, round, taken % work->pieces);
        const int64_t done = atomic_fetch_add_explicit(&job->done, 1, memory_order_acq_rel) + 1;
        if (done == (round + 1) * work->pieces) {
            work->finish(work->context, round);
            atomic_store_explicit(&job->open, round + 1, memory_order_release);
        }
    }
}

static int64_t nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void await_offer(void)
{
    const int64_t until = nanoseconds() + LOOK_NANOSECONDS;
    pthread_mutex_unlock(&lock);
    while (!atomic_load_explicit(&offer, memory_order_relaxed) && nanoseconds() < until)
        ;
    pthread_mutex_lock(&lock);
    while (!offer)
        pthread_cond_wait(&offered, &lock);
}

static void *help(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        if (!offer)
            await_offer();
        struct job *const job = offer;
        if (++job->helpers == job->wanted)
            offer = NULL;
        atomic_fetch_add_explicit(&job->busy, 1, memory_order_relaxed);
        pthread_mutex_unlock(&lock);
        work_on(job);
        atomic_fetch_sub_explicit(&job->busy, 1, memory_order_release);
        pthread_mutex_lock(&lock);
    }
    return NULL;
}

static void forget(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    offered = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    offer = NULL;
    started = 0;
}

// Signals are for the threads of Python.
static void start_one(void)
{
    static int registered;
    sigset_t all, before;
    pthread_t thread;
    if (!registered)
        registered = !pthread_atfork(NULL, NULL, forget);
    if (!registered)
        return;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!pthread_create(&thread, NULL, help, NULL)) {
        pthread_detach(thread);
        started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void run_shared(const struct shared *work, int threads)
{
    struct job job = {.work = work, .wanted = threads - 1};
    if (job.wanted > MOST_HELPERS)
        job.wanted = MOST_HELPERS;
    if (work->pieces < 2 || job.wanted < 1) {
        work_on(&job);
        return;
    }
    pthread_mutex_lock(&lock);
    const int is_offered = !offer;
    if (is_offered) {
        for (int missing = job.wanted - started; missing > 0; missing--)
            start_one();
        offer = &job;
        for (int i = 0; i < job.wanted; i++)
            pthread_cond_signal(&offered);
    }
    pthread_mutex_unlock(&lock);
    work_on(&job);
    if (!is_offered)
        return;
    pthread_mutex_lock(&lock);
    if (offer == &job)
        offer = NULL;
    pthread_mutex_unlock(&lock);
    while (atomic_load_explicit(&job.busy, memory_order_acquire))
        sched_yield();
}
