/* SPDX-License-Identifier: Apache-2.0 */
/* Records that wait for their copies. */
#include "pending.h"

#include <pthread.h>

#include "locks.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct capture_pending *first, **last = &first;
static struct capture_amount pending;
static uint64_t begun; /* copies, ever */

size_t capture_pending_count(void)
{
    return __atomic_load_n(&pending.count, __ATOMIC_RELAXED);
}

bool capture_is_pending(struct capture_amount more_than)
{
    return capture_pending_count() > more_than.count ||
           __atomic_load_n(&pending.bytes, __ATOMIC_RELAXED) > more_than.bytes;
}

void capture_append_pending(struct capture_pending *one)
{
    one->next = NULL;
    pthread_mutex_lock(&lock);
    if (one->order == 0) {
        one->order = ++begun;
    }
    *last = one;
    last = &one->next;
    __atomic_store_n(&pending.count, pending.count + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&pending.bytes, pending.bytes + one->size, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
}

void capture_append_all_pending(struct capture_pending *list)
{
    while (list != NULL) {
        struct capture_pending *one = list;
        list = one->next;
        capture_append_pending(one);
    }
}

uint64_t capture_begun_pending(void)
{
    pthread_mutex_lock(&lock);
    const uint64_t now = begun;
    pthread_mutex_unlock(&lock);
    return now;
}

struct capture_reach capture_of_stream(uint64_t stream)
{
    return (struct capture_reach){
        .kind = CAPTURE_OF_STREAM, .context = capture_context(), .stream = stream};
}

bool capture_is_within(const struct capture_reach *reach, uint64_t stream, const struct capture_place *place)
{
    switch (reach->kind) {
    case CAPTURE_OF_STREAM:
        return stream == reach->stream && place->context == reach->context;
    case CAPTURE_OF_CONTEXT:
        return place->context == reach->context;
    case CAPTURE_OF_DEVICE:
        return place->device == reach->device;
    default:
        return true;
    }
}

bool capture_overlap(const struct capture_reach *a, const struct capture_reach *b)
{
    if (a->kind > CAPTURE_OF_CONTEXT || b->kind > CAPTURE_OF_CONTEXT) {
        return true; /* a device, which may be that of the context */
    }
    const bool both = a->kind == CAPTURE_OF_STREAM && b->kind == CAPTURE_OF_STREAM;
    return a->context == b->context && (!both || a->stream == b->stream);
}

struct capture_pending *capture_take_pending(const struct capture_reach *reach, uint64_t until)
{
    struct capture_pending *taken = NULL, **end = &taken;
    pthread_mutex_lock(&lock);
    for (struct capture_pending **at = &first; *at != NULL;) {
        struct capture_pending *one = *at;
        if (one->order <= until && capture_is_within(reach, one->stream, &one->place)) {
            *at = one->next;
            one->next = NULL;
            __atomic_store_n(&pending.count, pending.count - 1, __ATOMIC_RELAXED);
            __atomic_store_n(&pending.bytes, pending.bytes - one->size, __ATOMIC_RELAXED);
            *end = one;
            end = &one->next;
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

void capture_keep_in_full(uint64_t call)
{
    pthread_mutex_lock(&lock);
    for (struct capture_pending *one = first; one != NULL; one = one->next) {
        one->full = one->full || one->call == call;
    }
    pthread_mutex_unlock(&lock);
}

/* A child of a fork has no streams that its copies could arrive on. */
static void forget_pending(void)
{
    pthread_mutex_init(&lock, NULL);
    first = NULL;
    last = &first;
    pending = (struct capture_amount){0};
}
CAPTURE_IN_CHILD(forget_pending)
