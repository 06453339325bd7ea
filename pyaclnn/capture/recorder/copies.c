/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of tensors, on the stream of their operator, and their arrival. */
#include "copies.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "arrived.h"
#include "clock.h"
#include "file.h"
#include "graphs.h"
#include "images.h"
#include "locks.h"
#include "pending.h"
#include "pinned.h"

enum { FIRST_OF_WORK = 500000, MOST_VAIN_WAITS = 5, COMPLETE = 0 };
enum { MILLISECOND = 1000000, PATIENCE_MS = 1000, PATIENCE_AT_END_MS = 5000, PATIENCE_AT_LIMIT_MS = 10 };
/* Copies on their way: to be waited for; the same at any price; that no other is added to. */
static const struct capture_amount MANY = {3072, 1 << 20}, NEARLY_MOST = {3072, 128 << 20}, MOST = {4096, 256 << 20};

/* The recorder waits for nothing that the program does not wait for: what a stream does next may be up
 * to the thread that would wait. Copies go to memory of the recorder, and are queued with the operator
 * whose tensors they read. So when a program may free these, since it knows that the operator has
 * ended, the copies have arrived: at a free there is nothing to do, though aclrtFree waits for no
 * stream. Where the recorder waits all the same, it gives up after a time. */

/* A stream that a thread waits for is not destroyed before it has. */
static pthread_mutex_t draining = PTHREAD_MUTEX_INITIALIZER;
static uint64_t records;                /* ever begun */
static _Thread_local uint64_t awaited; /* begun before this thread's wait */
static _Thread_local size_t in_vain; /* copies on their way as this thread waited in vain, or 0 */
static _Thread_local unsigned vain_waits; /* of those, at the limit */

static struct capture_place place_of_thread(void)
{
    struct capture_place place = {.context = capture_context()};
    capture_call(CAPTURE_GET_DEVICE, capture_address(&place.device), 0, 0, 0, 0, 0);
    return place;
}

static void copy_tensor(const struct capture_operand *of, uint64_t call, uint64_t stream,
                        enum capture_phase phase, struct capture_place place)
{
    if (capture_is_empty(&of->tensor)) {
        return;
    }
    const char *reason = capture_obstacle(&of->tensor);
    reason = reason == NULL && capture_is_pending(MOST) ? "too many copies on their way" : reason;
    struct capture_pending *made = reason != NULL ? NULL : capture_memory(NULL, sizeof *made);
    if (made != NULL) {
        *made = (struct capture_pending){.call = call, .stream = stream, .of = *of, .place = place};
        made->phase = phase;
        made->full = capture_is_in_full(of->function);
        made->image = capture_image_of(&of->tensor, stream, place.context, phase, &made->size,
                                       &reason);
    }
    if (reason != NULL) {
        capture_write_absence(call, of, phase, reason);
    }
    if (made != NULL && made->image != NULL) {
        made->order = __atomic_fetch_add(&records, 1, __ATOMIC_RELAXED);
        capture_append_pending(made);
    } else {
        free(made);
    }
}

void capture_copy_tensor(const struct capture_operand *of, uint64_t call, uint64_t stream,
                         enum capture_phase phase)
{
    copy_tensor(of, call, stream, phase, place_of_thread());
}

/* Write copies that have arrived; those of a stream that failed are written in full. */
static void finish(struct capture_pending *taken, bool failed)
{
    struct capture_pending *arrived = NULL, **end = &arrived;
    if (failed) {
        capture_forget_images();
    }
    while (taken != NULL) {
        struct capture_pending *one = taken;
        taken = one->next;
        if (one->failure == 0 && !(failed && one->phase == CAPTURE_AFTER)) {
            one->full = one->full || failed;
            one->next = NULL;
            *end = one;
            end = &one->next;
            continue;
        }
        if (one->failure == 0) {
            capture_write_absence(one->call, &one->of, one->phase, "its stream failed");
            capture_drop_image(one->image);
        }
        free(one);
    }
    capture_hand_arrived(arrived);
}

/* Give up copies that are not waited for. Their memory stays: a device may yet write it. */
static void lose(struct capture_pending *taken)
{
    if (taken != NULL) {
        capture_forget_images();
    }
    while (taken != NULL) {
        struct capture_pending *one = taken;
        taken = one->next;
        if (one->failure == 0) {
            capture_write_absence(one->call, &one->of, one->phase, "its copy was not waited for");
        }
        free(one);
    }
}

static struct capture_reach of_stream(uint64_t stream)
{
    return (struct capture_reach){
        .kind = CAPTURE_OF_STREAM, .context = capture_context(), .stream = stream};
}

/* The subject of the program's wait: a stream, or the device of its context. */
static struct capture_reach of_wait(const struct capture_function *function, const union mock_word *words)
{
    const bool of_device = function->hook == CAPTURE_SYNCHRONIZE_DEVICE;
    struct capture_reach reach = of_stream(of_device ? 0 : words[0].bits);
    reach.kind = of_device ? CAPTURE_OF_CONTEXT : CAPTURE_OF_STREAM;
    return reach;
}

static bool has_ended(int status)
{
    return status == 0 || (status >= FIRST_OF_WORK && status != CAPTURE_TIMED_OUT);
}

/* CANN reports the failure of a stream once: the program's next wait is to have it, too. */
static void keep_failure(const struct capture_pending *of, int32_t status)
{
    struct capture_pending *made = capture_memory(NULL, sizeof *made);
    const char *text = capture_ask(CAPTURE_RECENT_MESSAGE);
    if (made != NULL) {
        *made = (struct capture_pending){.stream = of->stream, .place = of->place, .failure = status};
        made->message = text == NULL ? NULL : strdup(text); /* stays: the program may have it */
        capture_append_pending(made);
    }
}

/* Wait for the streams of copies, until a time, or, if it is 0, as the program does. Return whether all
 * have arrived; the others are pending again. */
static bool await_streams(struct capture_pending *taken, uint64_t until)
{
    if (taken == NULL) { /* and maybe CANN is not loaded */
        return true;
    }
    const uint64_t here = capture_context();
    uint64_t context = here, stream = 0;
    bool all = true, begun = false;
    for (int status = -1; taken != NULL; begun = true) {
        struct capture_pending *one = taken;
        taken = one->next;
        if (!begun || one->stream != stream || one->place.context != context) {
            stream = one->stream;
            const uint64_t now = capture_now(CLOCK_MONOTONIC_COARSE);
            const uint64_t left = until > now ? (until - now) / MILLISECOND : 0;
            if (one->place.context != context) {
                context = one->place.context;
                capture_call(CAPTURE_SET_CONTEXT, context, 0, 0, 0, 0, 0);
            }
            status = capture_graph_takes(one->stream) ? -1
                     : until == 0 ? capture_call(CAPTURE_SYNCHRONIZE_STREAM, one->stream, 0, 0, 0, 0, 0)
                                  : capture_call(CAPTURE_SYNCHRONIZE_WITHIN, one->stream,
                                              left > 0 ? left : 1, 0, 0, 0, 0);
            if (has_ended(status) && status != 0) {
                keep_failure(one, status);
            }
        }
        all = all && has_ended(status);
        if (has_ended(status) && one->failure == 0) {
            one->next = NULL;
            finish(one, status != 0);
        } else {
            capture_append_pending(one);
        }
    }
    if (context != here && here != 0) {
        capture_call(CAPTURE_SET_CONTEXT, here, 0, 0, 0, 0, 0);
    }
    return all;
}

static bool await_within(const struct capture_reach *reach, uint64_t patience)
{
    const uint64_t now = capture_now(CLOCK_MONOTONIC_COARSE);
    pthread_mutex_lock(&draining);
    const bool all = await_streams(capture_take_pending(reach, UINT64_MAX), now + patience * MILLISECOND);
    pthread_mutex_unlock(&draining);
    return all;
}

void capture_end_stream(uint64_t stream, bool waits)
{
    const struct capture_reach reach = of_stream(stream);
    pthread_mutex_lock(&draining);
    struct capture_pending *taken = capture_take_pending(&reach, UINT64_MAX);
    pthread_mutex_unlock(&draining);
    if (waits) { /* as the program does */
        await_streams(taken, 0);
    } else {
        lose(taken);
    }
}

static void await_or_lose(struct capture_reach reach, uint64_t patience)
{
    await_within(&reach, patience);
    lose(capture_take_pending(&reach, UINT64_MAX));
}

void capture_end_context(uint64_t context)
{
    await_or_lose((struct capture_reach){.kind = CAPTURE_OF_CONTEXT, .context = context}, PATIENCE_MS);
}

void capture_end_contents(void)
{
    await_or_lose((struct capture_reach){.kind = CAPTURE_OF_ALL}, PATIENCE_AT_END_MS);
}

void capture_await_inputs(uint64_t stream)
{
    await_or_lose(of_stream(stream), PATIENCE_MS);
}

bool capture_waits(const struct capture_function *function)
{
    return function->hook == CAPTURE_SYNCHRONIZE || function->hook == CAPTURE_SYNCHRONIZE_DEVICE ||
           function->hook == CAPTURE_QUERY;
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

void capture_await(void)
{
    awaited = __atomic_load_n(&records, __ATOMIC_RELAXED);
}

int32_t capture_kept_failure(const struct capture_function *function, const union mock_word *words,
                             const char **message)
{
    if (!capture_has_failures() || !is_over(function, words, 0)) {
        return 0;
    }
    const struct capture_reach reach = of_wait(function, words);
    return capture_find_failure(&reach, message);
}

void capture_arrived(const struct capture_function *function, const union mock_word *words, int32_t status)
{
    const struct capture_reach reach = of_wait(function, words);
    if (is_over(function, words, status) && (reach.kind == CAPTURE_OF_STREAM || reach.context != 0)) {
        in_vain = 0;
        finish(capture_take_pending(&reach, awaited), status != 0);
    }
}

/* A child of a fork has no thread that waits. */
static void forget_waits(void)
{
    pthread_mutex_init(&draining, NULL);
}
CAPTURE_IN_CHILD(forget_waits)

/* The program gives a device back, and with it all that it has of it. */
void capture_free_room(int32_t device)
{
    const struct capture_reach reach = {.kind = device < 0 ? CAPTURE_OF_ALL : CAPTURE_OF_DEVICE, .device = device};
    await_within(&reach, PATIENCE_MS);
    capture_settle();
    capture_forget_images();
    capture_free_pinned();
}

/* Wait for the copies of the stream, if they are many. Only for the stream of the program's own launch,
 * and not while a graph is captured: that only the program ends. Again after a wait in vain, as a program
 * may wait for events alone; more rarely, as long as there is room. */
static void drain(uint64_t stream)
{
    const size_t now = capture_pending_count();
    const bool at_limit = capture_is_pending(NEARLY_MOST), again = now > 4 * in_vain;
    if ((capture_is_pending(MANY) || capture_is_full()) && !capture_graph_is_open() && (again || at_limit)) {
        const struct capture_reach reach = of_stream(stream);
        const bool patient = again || vain_waits < MOST_VAIN_WAITS; /* a busy machine is slow */
        in_vain = await_within(&reach, patient ? PATIENCE_MS : PATIENCE_AT_LIMIT_MS) ? 0 : now;
        vain_waits = in_vain == 0 ? 0 : vain_waits + at_limit;
    }
}

void capture_copy_operands(uint64_t call, const struct capture_operands *of, uint64_t stream,
                          enum capture_phase phase)
{
    if (of == NULL || capture_graph_takes(stream)) {
        return;
    }
    if (phase == CAPTURE_BEFORE) { /* not behind them: they are written in full if the call fails */
        drain(stream);
    }
    const struct capture_place place = place_of_thread();
    for (uint32_t i = 0; i < of->count; i++) {
        if (phase == CAPTURE_BEFORE ? of->list[i].read : of->list[i].written) {
            copy_tensor(&of->list[i], call, stream, phase, place);
        }
    }
    if (phase == CAPTURE_AFTER) {
        drain(stream);
    }
}
