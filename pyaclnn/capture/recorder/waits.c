/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for copies: those of the program, and those of the recorder.
 *
 * CANN reports the failure of a stream to one wait. If that is the recorder's, the program's next wait
 * gets it as well; if it is the program's, a wait of the recorder for the same stream, in another thread,
 * may return as if nothing had happened. So each knows of the others that are on their way. */
#include "waits.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "arrived.h"
#include "clock.h"
#include "failures.h"
#include "graphs.h"
#include "locks.h"

enum { FIRST_OF_WORK = 500000, COMPLETE = 0, MILLISECOND = 1000000 };
enum { PATIENCE_AT_END_MS = 5000, RETURNS_WITHIN_MS = 100, LOOK_AFTER_MS = 50 };

/* A wait on its way. */
struct wait {
    struct wait *next;
    struct capture_reach reach; /* whose copies it has taken off the list */
    struct capture_reach of;    /* what it is waiting for now */
    bool by_program;
    bool endless;      /* as long as the program's own: nobody else waits for its end */
    bool gives_way;    /* to other threads: it is made again later */
    bool has_returned; /* the program's, as if nothing had failed */
    bool failed;       /* the program was told of a failure of that */
};

static const struct capture_reach ALL = {.kind = CAPTURE_OF_ALL};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t returned;
static struct wait *waits;
static unsigned bars; /* of graphs that begin, and of the end of the process */
static unsigned held; /* threads that wait for the end of another's wait */
static _Thread_local struct wait of_program;
static pthread_key_t leaving; /* set in a thread while it waits */
static _Thread_local uint64_t awaited; /* the last copy before the program's wait */

/* True if copies within reach are with a wait of the recorder. */
static bool are_taken(const struct capture_reach *reach, bool by_endless)
{
    const struct wait *one = waits;
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
    const struct wait *one = waits;
    while (one != NULL && !(one->by_program && !one->has_returned && capture_overlap(&one->of, reach))) {
        one = one->next;
    }
    return one != NULL;
}

static void begin(struct wait *own)
{
    own->next = waits;
    waits = own;
}

static void end(const struct wait *own)
{
    pthread_mutex_lock(&lock);
    struct wait **at = &waits;
    while (*at != own) {
        at = &(*at)->next;
    }
    *at = own->next;
    pthread_cond_broadcast(&returned);
    pthread_mutex_unlock(&lock);
}

/* Take copies off the list; the wait is now one of the recorder. */
static struct capture_pending *take(struct wait *own, const struct capture_reach *reach, uint64_t until_copy)
{
    own->reach = own->of = *reach;
    own->by_program = false;
    return capture_take_pending(reach, until_copy);
}

/* Begin a wait of the recorder, and return its copies, which it takes off the list; a wait that has some
 * of them, in another thread, ends before. */
static struct capture_pending *begin_after_others(struct wait *own, const struct capture_reach *reach)
{
    pthread_mutex_lock(&lock);
    hold(reach);
    begin(own);
    struct capture_pending *taken = take(own, reach, UINT64_MAX);
    pthread_mutex_unlock(&lock);
    return taken;
}

static bool is_in_the_way(const struct wait *own)
{
    pthread_mutex_lock(&lock);
    const bool is = own->gives_way && (held != 0 || bars != 0);
    pthread_mutex_unlock(&lock);
    return is;
}

static bool has_ended(int status)
{
    return status == 0 || (status >= FIRST_OF_WORK && status != CAPTURE_TIMED_OUT);
}

static uint64_t after(uint64_t milliseconds)
{
    return capture_now(CLOCK_MONOTONIC_COARSE) + milliseconds * MILLISECOND;
}

enum outcome { UNKNOWN, DONE, FAILED };

/* Wait until a time, or until another thread is held up, if the wait gives way. */
static int synchronize(const struct wait *own, uint64_t stream, uint64_t until)
{
    for (;;) {
        const uint64_t now = capture_now(CLOCK_MONOTONIC_COARSE);
        const uint64_t left = until > now ? (until - now) / MILLISECOND : 0;
        const bool whole = !own->gives_way || left <= LOOK_AFTER_MS;
        const uint64_t part = whole ? left : LOOK_AFTER_MS;
        const int status = capture_call(CAPTURE_SYNCHRONIZE_WITHIN, stream, part > 0 ? part : 1, 0, 0, 0, 0);
        if (whole || status != CAPTURE_TIMED_OUT || is_in_the_way(own)) {
            return status;
        }
    }
}

/* Wait for the stream of a copy, until a time, or, if it is 0, as the program does. */
static enum outcome await_stream(struct wait *own, const struct capture_pending *one, uint64_t until)
{
    if (capture_graph_takes(one->stream)) {
        return UNKNOWN;
    }
    pthread_mutex_lock(&lock);
    own->of = (struct capture_reach){
        .kind = CAPTURE_OF_STREAM, .context = one->place.context, .stream = one->stream};
    own->failed = own->failed && own->reach.kind == CAPTURE_OF_STREAM;
    pthread_mutex_unlock(&lock);
    const int status = until == 0 ? capture_call(CAPTURE_SYNCHRONIZE_STREAM, one->stream, 0, 0, 0, 0, 0)
                                  : synchronize(own, one->stream, until);
    if (has_ended(status) && status != 0) {
        capture_keep_failure(one->stream, one->place, status); /* the program's next wait has it, too */
    }
    pthread_mutex_lock(&lock);
    /* The program's wait may be told of a failure, and is asked later; at an end there is no later. */
    const uint64_t limit = after(RETURNS_WITHIN_MS);
    while (status == 0 && until != 0 && !own->gives_way && does_program_await(&own->of) &&
           capture_await_until(&returned, &lock, limit)) {
    }
    const bool failed = own->failed, is_unsure = own->gives_way && does_program_await(&own->of);
    pthread_mutex_unlock(&lock);
    if (!has_ended(status)) {
        return UNKNOWN;
    }
    if (status != 0 || failed) {
        return FAILED;
    }
    return is_unsure ? UNKNOWN : DONE;
}

/* Wait for the streams of copies. Return whether all have arrived; the others are pending again. */
static bool await_streams(struct wait *own, struct capture_pending *taken, uint64_t until)
{
    if (taken == NULL) { /* and maybe CANN is not loaded */
        return true;
    }
    const uint64_t here = capture_context();
    uint64_t context = here;
    bool all = true;
    while (taken != NULL) {
        struct capture_pending *of_one = taken, *last = taken;
        while (last->next != NULL && last->next->stream == of_one->stream &&
               last->next->place.context == of_one->place.context) {
            last = last->next;
        }
        taken = last->next;
        last->next = NULL;
        if (of_one->place.context != context) {
            context = of_one->place.context;
            capture_call(CAPTURE_SET_CONTEXT, context, 0, 0, 0, 0, 0);
        }
        const enum outcome outcome = await_stream(own, of_one, until);
        if (outcome == UNKNOWN) {
            all = false;
            capture_append_all_pending(of_one);
        } else {
            capture_finish(of_one, outcome == FAILED);
        }
    }
    if (context != here && here != 0) {
        capture_call(CAPTURE_SET_CONTEXT, here, 0, 0, 0, 0, 0);
    }
    return all;
}

bool capture_await_copies(const struct capture_reach *reach, uint64_t until_copy, uint64_t patience)
{
    struct wait own = {.gives_way = true};
    struct capture_pending *taken = NULL;
    pthread_mutex_lock(&lock);
    hold(reach);
    const bool begins = held == 0 && bars == 0 && !capture_graph_is_open();
    if (begins) {
        begin(&own);
        taken = take(&own, reach, until_copy);
    }
    pthread_mutex_unlock(&lock);
    if (!begins) {
        return false;
    }
    const bool all = await_streams(&own, taken, after(patience));
    end(&own);
    return all;
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

void capture_end_waits(void)
{
    capture_bar_waits();
    capture_settle();
}

bool capture_is_at_rest(void)
{
    pthread_mutex_lock(&lock);
    const bool waited = capture_pending_count() == 0 && !are_taken(&ALL, true);
    pthread_mutex_unlock(&lock);
    return waited && capture_is_settled();
}

void capture_end_stream(uint64_t stream, bool waits_for_it)
{
    const struct capture_reach reach = capture_of_stream(stream);
    struct wait own = {.endless = waits_for_it};
    struct capture_pending *taken = begin_after_others(&own, &reach);
    if (waits_for_it) { /* as the program does */
        await_streams(&own, taken, 0);
        taken = capture_take_pending(&reach, UINT64_MAX);
    }
    capture_lose(taken);
    capture_drop_failures(&reach);
    end(&own);
}

static void await_within(struct wait *own, const struct capture_reach *reach, uint64_t patience)
{
    struct capture_pending *taken = begin_after_others(own, reach);
    await_streams(own, taken, after(patience));
}

/* Wait for copies a last time; what has not arrived in time is lost. */
static void await_last(struct capture_reach reach, uint64_t patience)
{
    struct wait own = {0};
    await_within(&own, &reach, patience);
    capture_lose(capture_take_pending(&reach, UINT64_MAX));
    end(&own);
}

void capture_await_inputs(uint64_t stream)
{
    await_last(capture_of_stream(stream), CAPTURE_PATIENCE_MS);
}

void capture_end_contents(void)
{
    await_last(ALL, PATIENCE_AT_END_MS);
}

void capture_end_context(uint64_t context)
{
    const struct capture_reach reach = {.kind = CAPTURE_OF_CONTEXT, .context = context};
    await_last(reach, CAPTURE_PATIENCE_MS);
    capture_drop_failures(&reach);
}

void capture_free_room(int32_t device)
{
    const struct capture_reach reach = {.kind = device < 0 ? CAPTURE_OF_ALL : CAPTURE_OF_DEVICE, .device = device};
    struct wait own = {0};
    await_within(&own, &reach, CAPTURE_PATIENCE_MS);
    end(&own);
    capture_settle();
    capture_forget_images();
    capture_free_pinned();
}

/* True if the work is over: a status of the wait itself, such as that of a wrong handle, says nothing. */
static bool is_over(const struct capture_function *function, const union mock_word *words, int32_t status)
{
    int32_t queried = COMPLETE;
    if (function->hook == CAPTURE_QUERY && status == 0) {
        memcpy(&queried, words[1].pointer, sizeof queried);
    }
    return has_ended(status) && queried == COMPLETE;
}

/* A thread that is cancelled waits no longer. */
static void leave(void *own)
{
    end(own);
}

__attribute__((constructor)) static void start(void)
{
    capture_make_condition(&returned);
    pthread_key_create(&leaving, leave);
}

/* A stream, or the device of its context. */
void capture_await(const struct capture_function *function, const union mock_word *words)
{
    const bool of_device = function->hook == CAPTURE_SYNCHRONIZE_DEVICE;
    of_program = (struct wait){.of = capture_of_stream(of_device ? 0 : words[0].bits), .by_program = true};
    of_program.of.kind = of_device ? CAPTURE_OF_CONTEXT : CAPTURE_OF_STREAM;
    awaited = capture_begun_pending();
    pthread_mutex_lock(&lock);
    begin(&of_program);
    pthread_mutex_unlock(&lock);
    pthread_setspecific(leaving, &of_program);
}

/* A wait of the recorder for the same returns now as well, and maybe with a failure, unless it is for
 * work that came later. */
int32_t capture_kept_failure(const struct capture_function *function, const union mock_word *words,
                             const char **message)
{
    if (!is_over(function, words, 0)) {
        return 0;
    }
    const uint64_t until = after(RETURNS_WITHIN_MS);
    pthread_mutex_lock(&lock);
    of_program.has_returned = true;
    pthread_cond_broadcast(&returned);
    while (are_taken(&of_program.of, true) && capture_await_until(&returned, &lock, until)) {
    }
    pthread_mutex_unlock(&lock);
    return capture_take_failure(&of_program.of, message);
}

void capture_arrived(const struct capture_function *function, const union mock_word *words, int32_t status)
{
    const struct capture_reach *reach = &of_program.of;
    const bool known = reach->kind == CAPTURE_OF_STREAM || reach->context != 0;
    if (is_over(function, words, status) && known) {
        pthread_mutex_lock(&lock);
        for (struct wait *one = waits; one != NULL; one = one->next) {
            one->failed = one->failed || (status != 0 && capture_overlap(&one->of, reach));
        }
        struct capture_pending *taken = take(&of_program, reach, awaited);
        pthread_mutex_unlock(&lock);
        capture_finish(taken, status != 0);
    }
    pthread_setspecific(leaving, NULL);
    end(&of_program);
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
