/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for copies that are on their way, in all threads. */
#include "wait_list.h"

#include <pthread.h>

#include "clock.h"
#include "graphs.h"
#include "locks.h"

enum { RETURNS_WITHIN_MS = 100 };

static const struct capture_reach ALL = {.kind = CAPTURE_OF_ALL};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t returned;
static struct capture_wait *waits;
static unsigned bars; /* of graphs that begin, and of the end of the process */
static unsigned held; /* threads that wait for the end of another's wait */

__attribute__((constructor)) static void start(void)
{
    capture_make_condition(&returned);
}

/* True if copies within reach are with a wait of the recorder. */
static bool are_taken(const struct capture_reach *reach, bool by_endless)
{
    const struct capture_wait *one = waits;
    while (one != NULL && (one->by_program || (one->endless && !by_endless) ||
                           !capture_overlap(&one->reach, reach))) {
        one = one->next;
    }
    return one != NULL;
}

/* Wait until no other wait of the recorder has copies within reach, but for endless ones. */
static void hold(const struct capture_reach *reach)
{
    held++;
    while (are_taken(reach, false)) {
        pthread_cond_wait(&returned, &lock);
    }
    held--;
}

/* True if the program may yet be told of a failure within reach. */
static bool does_program_await(const struct capture_reach *reach)
{
    const struct capture_wait *one = waits;
    while (one != NULL && !(one->by_program && !one->has_returned && capture_overlap(&one->of, reach))) {
        one = one->next;
    }
    return one != NULL;
}

static void begin(struct capture_wait *own)
{
    own->next = waits;
    waits = own;
}

/* Take copies off the list; the wait is now one of the recorder. */
static struct capture_pending *take(struct capture_wait *own, const struct capture_reach *reach,
                                    uint64_t until_copy)
{
    own->reach = own->of = *reach;
    own->by_program = false;
    return capture_take_pending(reach, until_copy);
}

struct capture_pending *capture_begin_wait(struct capture_wait *own, const struct capture_reach *reach)
{
    pthread_mutex_lock(&lock);
    hold(reach);
    begin(own);
    struct capture_pending *taken = take(own, reach, UINT64_MAX);
    pthread_mutex_unlock(&lock);
    return taken;
}

bool capture_begin_if_free(struct capture_wait *own, const struct capture_reach *reach, uint64_t until_copy,
                           struct capture_pending **taken)
{
    pthread_mutex_lock(&lock);
    hold(reach);
    const bool begins = held == 0 && bars == 0 && !capture_graph_is_open();
    if (begins) {
        begin(own);
        *taken = take(own, reach, until_copy);
    }
    pthread_mutex_unlock(&lock);
    return begins;
}

void capture_end_wait(const struct capture_wait *own)
{
    pthread_mutex_lock(&lock);
    struct capture_wait **at = &waits;
    while (*at != own) {
        at = &(*at)->next;
    }
    *at = own->next;
    pthread_cond_broadcast(&returned);
    pthread_mutex_unlock(&lock);
}

void capture_wait_for(struct capture_wait *own, const struct capture_reach *stream)
{
    pthread_mutex_lock(&lock);
    own->of = *stream;
    own->failed = own->failed && own->reach.kind == CAPTURE_OF_STREAM;
    pthread_mutex_unlock(&lock);
}

bool capture_is_in_the_way(const struct capture_wait *own)
{
    pthread_mutex_lock(&lock);
    const bool is = own->gives_way && (held != 0 || bars != 0);
    pthread_mutex_unlock(&lock);
    return is;
}

/* The program's wait may be told of a failure. One that gives way asks later; others let it return. */
enum capture_outcome capture_outcome(const struct capture_wait *own, bool is_last)
{
    pthread_mutex_lock(&lock);
    const uint64_t limit = capture_time_in(RETURNS_WITHIN_MS);
    while (!is_last && !own->gives_way && does_program_await(&own->of) &&
           capture_await_until(&returned, &lock, limit)) {
    }
    const bool failed = own->failed, is_unsure = own->gives_way && does_program_await(&own->of);
    pthread_mutex_unlock(&lock);
    if (failed) {
        return CAPTURE_FAILED;
    }
    return is_unsure ? CAPTURE_UNKNOWN : CAPTURE_DONE;
}

bool capture_has_copies(void)
{
    pthread_mutex_lock(&lock);
    const bool found = capture_pending_count() != 0 || are_taken(&ALL, true);
    pthread_mutex_unlock(&lock);
    return found;
}

void capture_bar_waits(void)
{
    pthread_mutex_lock(&lock);
    bars++;
    hold(&ALL);
    pthread_mutex_unlock(&lock);
}

void capture_permit_waits(void)
{
    pthread_mutex_lock(&lock);
    bars--;
    pthread_mutex_unlock(&lock);
}

void capture_begin_program_wait(struct capture_wait *own, const struct capture_reach *of)
{
    *own = (struct capture_wait){.of = *of, .by_program = true};
    pthread_mutex_lock(&lock);
    begin(own);
    pthread_mutex_unlock(&lock);
}

void capture_return_from_wait(struct capture_wait *own)
{
    pthread_mutex_lock(&lock);
    const uint64_t limit = capture_time_in(RETURNS_WITHIN_MS);
    own->has_returned = true;
    pthread_cond_broadcast(&returned);
    while (are_taken(&own->of, true) && capture_await_until(&returned, &lock, limit)) {
    }
    pthread_mutex_unlock(&lock);
}

struct capture_pending *capture_take_waited(struct capture_wait *own, uint64_t until_copy, bool failed)
{
    const struct capture_reach reach = own->of;
    pthread_mutex_lock(&lock);
    for (struct capture_wait *one = waits; failed && one != NULL; one = one->next) {
        one->failed = one->failed || capture_overlap(&one->of, &reach);
    }
    struct capture_pending *taken = take(own, &reach, until_copy);
    pthread_mutex_unlock(&lock);
    return taken;
}

/* A child of a fork has no other thread that waits. */
static void forget_waits(void)
{
    pthread_mutex_init(&lock, NULL);
    capture_make_condition(&returned);
    waits = NULL;
    bars = held = 0;
}
CAPTURE_IN_CHILD(forget_waits)
