/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of the recorder for copies. */
#include "waits.h"

#include "arrived.h"
#include "clock.h"
#include "failures.h"
#include "graphs.h"
#include "wait_list.h"

enum { MILLISECOND = 1000000, PATIENCE_AT_END_MS = 5000, FIRST_PART_MS = 50, LONGEST_PART_MS = 200 };

/* Wait until a time, or until another thread is held up, if the wait gives way. Each part waits for all that
 * the stream has been given by then, so parts become longer. */
static int synchronize(const struct capture_wait *own, uint64_t stream, uint64_t until)
{
    for (uint64_t part = FIRST_PART_MS;; part = part < LONGEST_PART_MS ? 2 * part : part) {
        const uint64_t now = capture_now(CLOCK_MONOTONIC_COARSE);
        const uint64_t left = until > now ? (until - now) / MILLISECOND : 0;
        const bool whole = !own->gives_way || left <= part;
        const uint64_t limit = !whole ? part : left > 0 ? left : 1;
        const int status = capture_call(CAPTURE_SYNCHRONIZE_WITHIN, stream, limit, 0, 0, 0, 0);
        if (whole || status != CAPTURE_TIMED_OUT || capture_is_in_the_way(own)) {
            return status;
        }
    }
}

/* Wait for the stream of a copy, until a time, or, if it is 0, as the program does. */
static enum capture_outcome await_stream(struct capture_wait *own, const struct capture_pending *one,
                                         uint64_t until)
{
    const struct capture_reach of = {
        .kind = CAPTURE_OF_STREAM, .context = one->place.context, .stream = one->stream};
    if (capture_graph_takes(one->stream)) {
        return CAPTURE_UNKNOWN;
    }
    capture_wait_for(own, &of);
    const int status = until == 0 ? capture_call(CAPTURE_SYNCHRONIZE_STREAM, one->stream, 0, 0, 0, 0, 0)
                                  : synchronize(own, one->stream, until);
    if (status == 0) {
        return capture_outcome(own, until == 0);
    }
    if (!capture_is_of_work(status)) {
        return CAPTURE_UNKNOWN;
    }
    capture_keep_failure(one->stream, one->place, status); /* the program's next wait has it, too */
    return CAPTURE_FAILED;
}

/* Wait for the streams of copies. Return whether all have arrived; the others are pending again. */
static bool await_streams(struct capture_wait *own, struct capture_pending *taken, uint64_t until)
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
        const enum capture_outcome outcome = await_stream(own, of_one, until);
        if (outcome == CAPTURE_UNKNOWN) {
            all = false;
            capture_append_all_pending(of_one);
        } else {
            capture_finish(of_one, outcome == CAPTURE_FAILED);
        }
    }
    if (context != here && here != 0) {
        capture_call(CAPTURE_SET_CONTEXT, here, 0, 0, 0, 0, 0);
    }
    return all;
}

bool capture_await_copies(const struct capture_reach *reach, uint64_t until_copy, uint64_t patience)
{
    struct capture_wait own = {.gives_way = true};
    struct capture_pending *taken;
    if (!capture_begin_if_free(&own, reach, until_copy, &taken)) {
        return false;
    }
    const bool all = await_streams(&own, taken, capture_time_in(patience));
    capture_end_wait(&own);
    return all;
}

void capture_end_waits(void)
{
    capture_bar_waits();
    capture_settle();
}

bool capture_is_at_rest(void)
{
    return !capture_has_copies() && capture_is_settled();
}

void capture_end_stream(uint64_t stream, bool waits_for_it)
{
    const struct capture_reach reach = capture_of_stream(stream);
    struct capture_wait own = {.endless = waits_for_it};
    struct capture_pending *taken = capture_begin_wait(&own, &reach);
    if (waits_for_it) { /* as the program does */
        await_streams(&own, taken, 0);
        taken = capture_take_pending(&reach, UINT64_MAX);
    }
    capture_lose(taken);
    capture_drop_failures(&reach);
    capture_end_wait(&own);
}

static void await_within(struct capture_wait *own, const struct capture_reach *reach, uint64_t patience)
{
    struct capture_pending *taken = capture_begin_wait(own, reach);
    await_streams(own, taken, capture_time_in(patience));
}

/* Wait for copies a last time; what has not arrived in time is lost. */
static void await_last(struct capture_reach reach, uint64_t patience)
{
    struct capture_wait own = {0};
    await_within(&own, &reach, patience);
    capture_lose(capture_take_pending(&reach, UINT64_MAX));
    capture_end_wait(&own);
}

void capture_await_inputs(uint64_t stream)
{
    await_last(capture_of_stream(stream), CAPTURE_PATIENCE_MS);
}

void capture_end_contents(void)
{
    await_last((struct capture_reach){.kind = CAPTURE_OF_ALL}, PATIENCE_AT_END_MS);
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
    struct capture_wait own = {0};
    await_within(&own, &reach, CAPTURE_PATIENCE_MS);
    capture_end_wait(&own);
    capture_settle();
    capture_forget_images();
    capture_free_pinned();
}

