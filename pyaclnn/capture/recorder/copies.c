/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of tensors, on the stream of their operator, and their arrival. */
#include "copies.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "file.h"
#include "graphs.h"
#include "images.h"
#include "pinned.h"

enum { MOST_PENDING = 4096, FIRST_OF_WORK = 500000 };
enum { PATIENCE_MS = 1000, PATIENCE_AT_END_MS = 5000, PATIENCE_AT_LIMIT_MS = 10 };
static const size_t MANY_PENDING_BYTES = 8 << 20, MOST_PENDING_BYTES = 192 << 20;

/* Where a thread calls. */
struct place {
    void *context;
    int32_t device;
};

/* A record that waits for its copy, of which it may not be the first. */
struct pending {
    struct pending *next;
    uint64_t call, stream, order;
    uint64_t size; /* of the copy that was made for it; 0: another's serves */
    struct place place;
    struct capture_operand of;
    enum capture_phase phase;
    bool full;
    struct capture_image *image;
};

/* Which copies: of a stream in a context (a default stream has the same handle in each), of a context,
 * of a device, or all. */
struct reach {
    enum { OF_STREAM, OF_CONTEXT, OF_DEVICE, OF_ALL } kind;
    void *context;
    uint64_t stream;
    int32_t device;
};

/* The recorder waits for nothing that the program does not wait for: what a stream does next may be up
 * to the thread that would wait. Copies go to memory of the recorder, and are queued with the operator
 * whose tensors they read. So when a program may free these, since it knows that the operator has
 * ended, the copies have arrived: at a free there is nothing to do, though aclrtFree waits for no
 * stream. Where the recorder waits all the same, it gives up after a time. */

/* draining: a stream that a thread waits for is not destroyed before it has. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, draining = PTHREAD_MUTEX_INITIALIZER;
static struct pending *first, **last = &first;
static size_t pending_count, pending_bytes;
static uint64_t records;                /* ever begun */
static _Thread_local uint64_t awaited; /* begun before this thread's wait */
static _Thread_local size_t in_vain; /* copies on their way as this thread waited in vain, or 0 */
bool capture_is_settled(void)
{
    return __atomic_load_n(&pending_count, __ATOMIC_RELAXED) == 0;
}

static void append(struct pending *copy)
{
    copy->next = NULL;
    pthread_mutex_lock(&lock);
    *last = copy;
    last = &copy->next;
    __atomic_store_n(&pending_count, pending_count + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&pending_bytes, pending_bytes + copy->size, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
}

static bool is_much(size_t most)
{
    return __atomic_load_n(&pending_count, __ATOMIC_RELAXED) > MOST_PENDING ||
           __atomic_load_n(&pending_bytes, __ATOMIC_RELAXED) > most;
}

static struct place place_of_thread(void)
{
    struct place place = {0};
    capture_call(CAPTURE_GET_CONTEXT, capture_address(&place.context), 0, 0, 0, 0, 0);
    capture_call(CAPTURE_GET_DEVICE, capture_address(&place.device), 0, 0, 0, 0, 0);
    return place;
}

static void copy_tensor(const struct capture_operand *of, uint64_t call, uint64_t stream,
                        enum capture_phase phase, struct place place)
{
    if (capture_is_empty(&of->tensor)) {
        return;
    }
    const char *reason = capture_obstacle(&of->tensor);
    reason = reason == NULL && is_much(MOST_PENDING_BYTES) ? "too many copies on their way" : reason;
    struct pending *made = reason != NULL ? NULL : capture_memory(NULL, sizeof *made);
    if (made != NULL) {
        *made = (struct pending){.call = call, .stream = stream, .of = *of, .place = place};
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
        append(made);
    } else {
        free(made);
    }
}

void capture_copy_tensor(const struct capture_operand *of, uint64_t call, uint64_t stream,
                         enum capture_phase phase)
{
    copy_tensor(of, call, stream, phase, place_of_thread());
}

static bool is_within(const struct pending *one, const struct reach *reach)
{
    switch (reach->kind) {
    case OF_STREAM:
        return one->stream == reach->stream && one->place.context == reach->context;
    case OF_CONTEXT:
        return one->place.context == reach->context;
    case OF_DEVICE:
        return one->place.device == reach->device;
    default:
        return true;
    }
}

/* Take copies that were begun before a number off the list. */
static struct pending *take(const struct reach *reach, uint64_t before)
{
    struct pending *taken = NULL, **end = &taken;
    pthread_mutex_lock(&lock);
    for (struct pending **at = &first; *at != NULL;) {
        struct pending *one = *at;
        if (is_within(one, reach) && one->order < before) {
            *at = one->next;
            one->next = NULL;
            *end = one;
            end = &one->next;
            __atomic_store_n(&pending_count, pending_count - 1, __ATOMIC_RELAXED);
            __atomic_store_n(&pending_bytes, pending_bytes - one->size, __ATOMIC_RELAXED);
        } else {
            at = &one->next;
        }
    }
    for (last = &first; *last != NULL;) {
        last = &(*last)->next;
    }
    pthread_mutex_unlock(&lock);
    return taken;
}

/* Write copies that have arrived; those of a stream that failed are written in full. */
static void finish(struct pending *taken, bool failed)
{
    if (failed) {
        capture_forget_images();
    }
    while (taken != NULL) {
        struct pending *one = taken;
        taken = one->next;
        if (failed && one->phase == CAPTURE_AFTER) {
            capture_write_absence(one->call, &one->of, one->phase, "its stream failed");
        } else {
            capture_write_image(one->call, &one->of, one->phase, one->image, one->full || failed);
        }
        capture_drop_image(one->image);
        free(one);
    }
}

/* Copies that nobody will see arrive. Their memory stays: a device may yet write it. */
static void lose(struct pending *taken)
{
    if (taken != NULL) {
        capture_forget_images();
    }
    while (taken != NULL) {
        struct pending *one = taken;
        taken = one->next;
        capture_write_absence(one->call, &one->of, one->phase, "its copy was not waited for");
        free(one);
    }
}

static void *context_of_thread(void)
{
    void *context = NULL;
    capture_call(CAPTURE_GET_CONTEXT, capture_address(&context), 0, 0, 0, 0, 0);
    return context;
}

static struct reach of_stream(uint64_t stream)
{
    return (struct reach){.kind = OF_STREAM, .context = context_of_thread(), .stream = stream};
}

static int64_t now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static bool has_ended(int status)
{
    return status == 0 || (status >= FIRST_OF_WORK && status != CAPTURE_TIMED_OUT);
}

/* Wait for the streams of copies, until a time, or, if it is 0, as the program does. Return whether all
 * have arrived; the others are pending again. */
static bool await_streams(struct pending *taken, int64_t until)
{
    if (taken == NULL) { /* and maybe CANN is not loaded */
        return true;
    }
    void *const here = context_of_thread(), *context = here;
    uint64_t stream = 0;
    bool all = true, begun = false;
    for (int status = -1; taken != NULL; begun = true) {
        struct pending *one = taken;
        taken = one->next;
        if (!begun || one->stream != stream || one->place.context != context) {
            stream = one->stream;
            const int64_t left = until - now_ms();
            if (one->place.context != context) {
                context = one->place.context;
                capture_call(CAPTURE_SET_CONTEXT, capture_address(context), 0, 0, 0, 0, 0);
            }
            status = capture_graph_takes(one->stream) ? -1
                     : until == 0 ? capture_call(CAPTURE_SYNCHRONIZE_STREAM, one->stream, 0, 0, 0, 0, 0)
                                  : capture_call(CAPTURE_SYNCHRONIZE_WITHIN, one->stream,
                                              left > 0 ? (uint64_t)left : 1, 0, 0, 0, 0);
        }
        all = all && has_ended(status);
        if (has_ended(status)) {
            one->next = NULL;
            finish(one, status != 0);
        } else {
            append(one);
        }
    }
    if (context != here && here != NULL) {
        capture_call(CAPTURE_SET_CONTEXT, capture_address(here), 0, 0, 0, 0, 0);
    }
    return all;
}

static bool await_within(const struct reach *reach, int64_t patience)
{
    pthread_mutex_lock(&draining);
    const bool all = await_streams(take(reach, UINT64_MAX), now_ms() + patience);
    pthread_mutex_unlock(&draining);
    return all;
}

void capture_end_stream(uint64_t stream, bool waits)
{
    const struct reach reach = of_stream(stream);
    pthread_mutex_lock(&draining);
    struct pending *taken = take(&reach, UINT64_MAX);
    pthread_mutex_unlock(&draining);
    if (waits) { /* as the program does */
        await_streams(taken, 0);
    } else {
        lose(taken);
    }
}

static void await_or_lose(struct reach reach, int64_t patience)
{
    await_within(&reach, patience);
    lose(take(&reach, UINT64_MAX));
}

void capture_end_context(uint64_t context)
{
    await_or_lose((struct reach){.kind = OF_CONTEXT, .context = (void *)(uintptr_t)context}, PATIENCE_MS);
}

void capture_end_contents(void)
{
    await_or_lose((struct reach){.kind = OF_ALL}, PATIENCE_AT_END_MS);
}

void capture_await_inputs(uint64_t stream)
{
    await_or_lose(of_stream(stream), PATIENCE_MS);
}

void capture_await(void)
{
    awaited = __atomic_load_n(&records, __ATOMIC_RELAXED);
}

/* A status of the wait itself, such as that of a wrong handle, says nothing of copies. */
void capture_arrived(uint64_t stream, int32_t status)
{
    const struct reach reach = of_stream(stream);
    if (has_ended(status)) {
        in_vain = 0;
        finish(take(&reach, awaited), status != 0);
    }
}

void capture_arrived_on_device(int32_t status)
{
    const struct reach reach = {.kind = OF_CONTEXT, .context = context_of_thread()};
    if (has_ended(status) && reach.context != NULL) {
        in_vain = 0;
        finish(take(&reach, awaited), status != 0);
    }
}

/* A child of a fork has no streams that its copies could arrive on. */
static void forget_copies(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_mutex_init(&draining, NULL);
    first = NULL;
    last = &first;
    pending_count = pending_bytes = 0;
}

__attribute__((constructor)) static void start(void)
{
    pthread_atfork(NULL, NULL, forget_copies);
}

/* The program gives a device back, and with it all that it has of it. */
void capture_free_room(int32_t device)
{
    const struct reach reach = {.kind = device < 0 ? OF_ALL : OF_DEVICE, .device = device};
    await_within(&reach, PATIENCE_MS);
    capture_forget_images();
    capture_free_pinned();
}

void capture_copy_operands(uint64_t call, const struct capture_operands *of, uint64_t stream,
                          enum capture_phase phase)
{
    if (of == NULL || capture_graph_takes(stream)) {
        return;
    }
    const struct place place = place_of_thread();
    for (uint32_t i = 0; i < of->count; i++) {
        if (phase == CAPTURE_BEFORE ? of->list[i].read : of->list[i].written) {
            copy_tensor(&of->list[i], call, stream, phase, place);
        }
    }
    /* Only for the stream of the program's own launch, and not while a graph is captured: that only
     * the program ends. Again after a wait in vain, as a program may wait for events alone; more rarely,
     * as long as there is room. */
    const size_t now = __atomic_load_n(&pending_count, __ATOMIC_RELAXED);
    const bool again = now > 4 * in_vain;
    if ((is_much(MANY_PENDING_BYTES) || capture_is_full()) && !capture_graph_is_open() &&
        (again || is_much(MOST_PENDING_BYTES))) {
        const struct reach reach = of_stream(stream);
        in_vain = await_within(&reach, again ? PATIENCE_MS : PATIENCE_AT_LIMIT_MS) ? 0 : now;
    }
}
