/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of tensors: copied on the stream of their operator, hashed once they have arrived. */
#include "contents.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "graphs.h"
#include "settings.h"

enum { MOST_PENDING = 4096, TO_HOST = 2, RELAXED = 2, ALIGNMENT = 64 };
static const size_t MOST_BYTES = 64 << 20, ROOM = 16 << 20;

/* A copy on its way. */
struct pending {
    struct pending *next;
    uint64_t call, stream, size, order;
    void *context;
    struct capture_operand of;
    enum capture_phase phase;
    bool full, pinned;
    uint8_t *data;
};

/* draining: a stream that a thread waits for is not destroyed before it has. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, draining = PTHREAD_MUTEX_INITIALIZER;
static struct pending *first, **last = &first;
static size_t pending_count, pending_bytes;
static uint64_t copies;                 /* ever begun */
static _Thread_local uint64_t awaited; /* begun before this thread's wait */
/* Memory of the host that a device writes without a wait; copies to other memory would change when
 * the work of the program runs. */
static uint8_t *room;
static size_t room_used, room_users;

static uint64_t number_of(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

/* Move the elements together in row-major order; they never move up. Elements that overlap are not
 * recorded: of an expanded tensor there may be any number. */
static uint64_t gather(const struct capture_tensor *tensor, uint8_t *data)
{
    int64_t index[CAPTURE_DIMENSIONS] = {0}, expected = 1;
    const int64_t most = (int64_t)(capture_span(tensor) / tensor->element_size);
    bool contiguous = true;
    for (uint32_t i = tensor->rank; i-- > 0; expected *= tensor->dimensions[i]) {
        contiguous = contiguous && (tensor->dimensions[i] == 1 || tensor->strides[i] == expected);
        if (tensor->dimensions[i] > most / expected) {
            return 0;
        }
    }
    const uint64_t bytes = (uint64_t)expected * tensor->element_size;
    if (contiguous) {
        return bytes;
    }
    uint8_t *copy = capture_memory(NULL, bytes), *to = copy;
    for (int64_t left = expected; copy != NULL && left > 0; left--) {
        int64_t at = 0;
        for (uint32_t i = 0; i < tensor->rank; i++) {
            at += index[i] * tensor->strides[i];
        }
        memcpy(to, data + at * tensor->element_size, tensor->element_size);
        to += tensor->element_size;
        for (uint32_t i = tensor->rank; i-- > 0 && ++index[i] == tensor->dimensions[i];) {
            index[i] = 0;
        }
    }
    if (copy == NULL) {
        return 0;
    }
    memcpy(data, copy, bytes);
    free(copy);
    return bytes;
}

/* The length of an operator's name: its tensors are those of its first phase. */
static int length_of(const char *name)
{
    const char *end = strstr(name, "GetWorkspaceSize");
    return (int)(end != NULL ? (size_t)(end - name) : strlen(name));
}

static bool is_in_full(const struct capture_function *function)
{
    char name[256];
    snprintf(name, sizeof name, ",%.*s,", length_of(function->name), function->name);
    return capture_settings.contents == CAPTURE_CONTENTS_FULL ||
           (capture_settings.full != NULL && strstr(capture_settings.full, name) != NULL);
}

/* The C name of a parameter; in a graph, behind that of its operator. */
static void put_name(struct capture_bytes *to, const struct capture_operand *of)
{
    char text[256];
    const char *function = of->function->name, *name = of->function->parameters[of->parameter].name;
    const int length = of->drawn ? length_of(function) : 0;
    const int written = snprintf(text, sizeof text, "%.*s%.*s%.*s", length, function, of->drawn, ".",
                                 (int)strcspn(name, " "), name);
    capture_text(to, text, written < (int)sizeof text ? (size_t)written : sizeof text - 1);
}

void capture_write_contents(uint64_t call, const struct capture_operand *of, enum capture_phase phase,
                           const void *data, uint64_t bytes, bool full)
{
    struct capture_bytes record = {0};
    const struct capture_tensor *tensor = &of->tensor;
    const uint64_t head[] = {3,     call, of->place, of->element, (uint64_t)phase,
                             bytes, capture_hash(data, bytes)};
    capture_array(&record, 13);
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++) {
        capture_number(&record, head[i]);
    }
    put_name(&record, of);
    capture_blob(&record, full && bytes <= capture_settings.largest ? data : NULL, bytes);
    capture_signed(&record, tensor->type);
    const int64_t *const numbers[] = {tensor->dimensions, tensor->strides};
    for (int i = 0; i < 2; i++) {
        capture_array(&record, tensor->rank);
        for (uint32_t j = 0; j < tensor->rank; j++) {
            capture_signed(&record, numbers[i][j]);
        }
    }
    capture_number(&record, number_of(capture_begin_of(tensor)));
    capture_write(&record);
    free(record.data);
}

bool capture_is_settled(void)
{
    return pending_count == 0;
}

static bool exchange(int *mode)
{
    return capture_call(CAPTURE_EXCHANGE_MODE, number_of(mode), 0, 0, 0, 0, 0) == 0;
}

/* Take memory for a copy, which the program can ask for only while it has a device. */
static void give_room(struct pending *to)
{
    pthread_mutex_lock(&lock);
    if (room == NULL) {
        int mode = RELAXED; /* while a stream is captured this call would be refused */
        const bool captured = capture_graph_is_open() && exchange(&mode);
        room = capture_call(CAPTURE_MALLOC_HOST, number_of(&room), ROOM, 0, 0, 0, 0) == 0 ? room : NULL;
        if (captured) {
            exchange(&mode);
        }
    }
    to->pinned = room != NULL && to->size <= ROOM - room_used;
    if (to->pinned) {
        to->data = room + room_used;
        room_used += (to->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        room_users++;
    }
    pthread_mutex_unlock(&lock);
    if (!to->pinned) {
        to->data = capture_memory(NULL, to->size);
    }
}

static void forget(struct pending *copy)
{
    if (copy->pinned) {
        pthread_mutex_lock(&lock);
        room_used = --room_users == 0 ? 0 : room_used;
        pthread_mutex_unlock(&lock);
    } else {
        free(copy->data);
    }
    free(copy);
}

void capture_copy_tensor(const struct capture_operand *of, uint64_t call, uint64_t stream,
                         enum capture_phase phase)
{
    const uint64_t size = capture_span(&of->tensor);
    struct pending *made = size == 0 || size > MOST_BYTES ? NULL : capture_memory(NULL, sizeof *made);
    if (made == NULL) {
        return;
    }
    *made = (struct pending){.call = call, .stream = stream, .size = size, .of = *of};
    made->phase = phase;
    made->full = is_in_full(of->function);
    give_room(made);
    capture_call(CAPTURE_GET_CONTEXT, number_of(&made->context), 0, 0, 0, 0, 0);
    if (made->data == NULL || capture_call(CAPTURE_MEMCPY_ASYNC, number_of(made->data), size,
                                        number_of(capture_begin_of(&of->tensor)), size, TO_HOST, stream) != 0) {
        forget(made);
        return;
    }
    pthread_mutex_lock(&lock);
    made->order = copies++;
    *last = made;
    last = &made->next;
    pending_count++;
    pending_bytes += size;
    pthread_mutex_unlock(&lock);
}

/* Take the copies of a stream that were awaited, or all that are not captured, off the list. */
static struct pending *take(bool all, uint64_t stream)
{
    struct pending *taken = NULL, **end = &taken;
    pthread_mutex_lock(&lock);
    for (struct pending **at = &first; *at != NULL;) {
        struct pending *one = *at;
        if (all ? !capture_graph_takes(one->stream)
                : one->stream == stream && one->order < awaited) {
            *at = one->next;
            one->next = NULL;
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

/* Write copies that have arrived; those of a stream that failed are written in full. */
static void finish(struct pending *taken, bool failed)
{
    while (taken != NULL) {
        struct pending *one = taken;
        const uint64_t bytes = gather(&one->of.tensor, one->data);
        if (bytes != 0 && !(failed && one->phase == CAPTURE_AFTER)) {
            capture_write_contents(one->call, &one->of, one->phase, one->data, bytes, one->full || failed);
        }
        taken = one->next;
        pthread_mutex_lock(&lock);
        pending_count--;
        pending_bytes -= one->size;
        pthread_mutex_unlock(&lock);
        forget(one);
    }
}

static void drain(struct pending *taken)
{
    uint64_t stream = 1;
    int status = 0;
    void *context = NULL;
    if (taken == NULL) {
        return;
    }
    capture_call(CAPTURE_GET_CONTEXT, number_of(&context), 0, 0, 0, 0, 0);
    while (taken != NULL) {
        struct pending *one = taken;
        taken = one->next;
        one->next = NULL;
        if (one->stream != stream) {
            stream = one->stream;
            capture_call(CAPTURE_SET_CONTEXT, number_of(one->context), 0, 0, 0, 0, 0);
            status = capture_call(CAPTURE_SYNCHRONIZE_STREAM, stream, 0, 0, 0, 0, 0);
        }
        finish(one, status != 0);
    }
    if (context != NULL) {
        capture_call(CAPTURE_SET_CONTEXT, number_of(context), 0, 0, 0, 0, 0);
    }
}

void capture_drain(void)
{
    pthread_mutex_lock(&draining);
    drain(take(true, 0));
    pthread_mutex_unlock(&draining);
}

void capture_await(void)
{
    pthread_mutex_lock(&lock);
    awaited = copies;
    pthread_mutex_unlock(&lock);
}

void capture_arrived(uint64_t stream, bool failed)
{
    finish(take(false, stream), failed);
}

/* A child of a fork has no streams that its copies could arrive on. */
static void forget_copies(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_mutex_init(&draining, NULL);
    first = NULL;
    last = &first;
    pending_count = pending_bytes = room_used = room_users = 0;
    room = NULL;
}

__attribute__((constructor)) static void start(void)
{
    pthread_atfork(NULL, NULL, forget_copies);
}

/* The program gives its device back, and with it all that it has of it. */
void capture_free_room(void)
{
    capture_drain();
    pthread_mutex_lock(&lock);
    if (room != NULL && room_users == 0) {
        capture_call(CAPTURE_FREE_HOST, number_of(room), 0, 0, 0, 0, 0);
        room = NULL;
    }
    pthread_mutex_unlock(&lock);
}

void capture_copy_operands(uint64_t call, const struct capture_operands *of, uint64_t stream,
                          enum capture_phase phase)
{
    const bool much = pending_count > MOST_PENDING || pending_bytes > ROOM / 2;
    const bool waits = capture_graph_is_open(); /* and only the program ends that */
    if (of == NULL || (waits && (much || capture_graph_takes(stream)))) {
        return;
    }
    for (uint32_t i = 0; i < of->count; i++) {
        const struct capture_operand *operand = &of->list[i];
        if (phase == CAPTURE_BEFORE ? operand->read : operand->written) {
            capture_copy_tensor(operand, call, stream, phase);
        }
    }
    if ((much || capture_is_full()) && !waits) {
        capture_drain();
    }
}
