/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of tensors: copied on the stream of their operator, hashed once they have arrived. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "operands.h"

enum { MOST_PENDING = 4096, TO_HOST = 2, TO_DEVICE = 1, ALIGNMENT = 64,
       TIMED_OUT = 507046 };
enum phase { BEFORE, AFTER, HOST };
static const size_t MOST_BYTES = 64 << 20, ROOM = 16 << 20;

/* A copy on its way. */
struct pending {
    struct pending *next;
    uint64_t call, stream, size;
    void *context;
    struct capture_operand of;
    enum phase phase;
    bool full, pinned;
    uint8_t *data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pending *first, **last = &first;
static size_t pending_count, pending_bytes;
/* Memory of the host that a device writes without a wait; copies to other memory would change when
 * the work of the program runs. */
static uint8_t *room;
static size_t room_used, room_users;
static uint32_t graphs; /* being captured: a copy would become a part of them */

static int call_real(const char *name, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                     uint64_t f)
{
    int (*function)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
    void *address = capture_real(name);
    memcpy(&function, &address, sizeof function);
    return address == NULL ? -1 : function(a, b, c, d, e, f);
}

static uint64_t number_of(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

/* The elements from the first to the last in memory; 0 if there are none or it is unknown. */
static uint64_t span(const struct capture_tensor *tensor)
{
    uint64_t elements = tensor->element_size == 0 ? 0 : 1;
    for (uint32_t i = 0; i < tensor->rank && elements != 0; i++) {
        if (tensor->dimensions[i] <= 0 || tensor->strides[i] < 0) {
            return 0;
        }
        elements += (uint64_t)((tensor->dimensions[i] - 1) * tensor->strides[i]);
    }
    return elements * tensor->element_size;
}

/* Move the elements together in row-major order; they never move up. */
static uint64_t gather(const struct capture_tensor *tensor, uint8_t *data)
{
    int64_t index[CAPTURE_DIMENSIONS] = {0}, expected = 1;
    bool contiguous = true;
    for (uint32_t i = tensor->rank; i-- > 0; expected *= tensor->dimensions[i]) {
        contiguous = contiguous && (tensor->dimensions[i] == 1 || tensor->strides[i] == expected);
    }
    const uint64_t bytes = (uint64_t)expected * tensor->element_size;
    if (contiguous) {
        return bytes;
    }
    uint8_t *copy = malloc(bytes), *to = copy;
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
    if (copy != NULL && bytes <= span(tensor)) {
        memcpy(data, copy, bytes);
    }
    free(copy);
    return bytes <= span(tensor) ? bytes : 0; /* elements that overlap are not recorded */
}

static void write_contents(uint64_t call, const struct capture_operand *of, enum phase phase,
                           const void *data, uint64_t bytes, bool full)
{
    static _Thread_local struct capture_bytes record;
    const uint64_t hash = capture_hash(data, bytes);
    full = full && bytes <= capture_settings.largest;
    record.length = 0;
    const uint64_t head[] = {3, call, of->parameter, of->element, (uint64_t)phase, full, bytes};
    for (size_t i = 0; i < sizeof head / sizeof head[0]; i++) {
        capture_number(&record, head[i]);
    }
    capture_put(&record, &hash, sizeof hash);
    if (full) {
        capture_put(&record, data, bytes);
    }
    capture_write(&record, NULL, 0, false);
}

/* Take memory for a copy, which the program can ask for only while it has a device. */
static void give_room(struct pending *to)
{
    pthread_mutex_lock(&lock);
    if (room == NULL && call_real("aclrtMallocHost", number_of(&room), ROOM, 0, 0, 0, 0) != 0) {
        room = NULL;
    }
    to->pinned = room != NULL && to->size <= ROOM - room_used;
    if (to->pinned) {
        to->data = room + room_used;
        room_used += (to->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        room_users++;
    }
    pthread_mutex_unlock(&lock);
    if (!to->pinned) {
        to->data = malloc(to->size);
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

static void copy_tensor(const struct capture_operand *of, uint64_t call, uint64_t stream, enum phase phase,
                        bool full)
{
    const uint64_t size = span(&of->tensor);
    struct pending *made = size == 0 || size > MOST_BYTES ? NULL : malloc(sizeof *made);
    if (made == NULL) {
        return;
    }
    *made = (struct pending){.call = call, .stream = stream, .size = size, .of = *of};
    made->phase = phase;
    made->full = full;
    give_room(made);
    call_real("aclrtGetCurrentContext", number_of(&made->context), 0, 0, 0, 0, 0);
    const uint8_t *from = of->tensor.data + of->tensor.offset * of->tensor.element_size;
    if (made->data == NULL || call_real("aclrtMemcpyAsync", number_of(made->data), size, number_of(from),
                                        size, TO_HOST, stream) != 0) {
        forget(made);
        return;
    }
    pthread_mutex_lock(&lock);
    *last = made;
    last = &made->next;
    pending_count++;
    pending_bytes += size;
    pthread_mutex_unlock(&lock);
}

/* Take the copies of a stream, or of all, off the list. */
static struct pending *take(bool all, uint64_t stream)
{
    struct pending *taken = NULL, **end = &taken;
    pthread_mutex_lock(&lock);
    for (struct pending **at = &first; *at != NULL;) {
        struct pending *one = *at;
        if (all || one->stream == stream) {
            *at = one->next;
            one->next = NULL;
            *end = one;
            end = &one->next;
            pending_count--;
            pending_bytes -= one->size;
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
static void finish(struct pending *copies, bool failed)
{
    while (copies != NULL) {
        struct pending *one = copies;
        const uint64_t bytes = gather(&one->of.tensor, one->data);
        if (bytes != 0 && !(failed && one->phase == AFTER)) {
            write_contents(one->call, &one->of, one->phase, one->data, bytes, one->full || failed);
        }
        copies = one->next;
        forget(one);
    }
}

static void drain(struct pending *copies)
{
    uint64_t stream = 1;
    int status = 0;
    void *context = NULL;
    if (copies == NULL) {
        return;
    }
    call_real("aclrtGetCurrentContext", number_of(&context), 0, 0, 0, 0, 0);
    while (copies != NULL) {
        struct pending *one = copies;
        copies = one->next;
        one->next = NULL;
        if (one->stream != stream) {
            stream = one->stream;
            call_real("aclrtSetCurrentContext", number_of(one->context), 0, 0, 0, 0, 0);
            status = call_real("aclrtSynchronizeStream", stream, 0, 0, 0, 0, 0);
        }
        finish(one, status != 0);
    }
    if (context != NULL) {
        call_real("aclrtSetCurrentContext", number_of(context), 0, 0, 0, 0, 0);
    }
}

static void drain_all(void)
{
    drain(take(true, 0));
}

/* The program gives its device back, and with it all that it has of it. */
static void free_room(void)
{
    drain_all();
    pthread_mutex_lock(&lock);
    if (room != NULL && room_users == 0) {
        call_real("aclrtFreeHost", number_of(room), 0, 0, 0, 0, 0);
        room = NULL;
    }
    pthread_mutex_unlock(&lock);
}

/* End the trace: what is pending is waited for. */
void capture_end(void)
{
    drain_all();
    capture_close();
}

static bool in_full(const struct capture_function *function)
{
    /* The operands of an operator are those of its first phase. */
    const char *end = strstr(function->name, "GetWorkspaceSize");
    const int length = (int)(end != NULL ? (size_t)(end - function->name) : strlen(function->name));
    char name[256];
    snprintf(name, sizeof name, ",%.*s,", length, function->name);
    return capture_settings.contents == CAPTURE_CONTENTS_FULL ||
           strstr(capture_settings.full, name) != NULL;
}

static void copy_operands(uint64_t call, const struct capture_operands *of, uint64_t stream,
                          enum phase phase)
{
    for (uint32_t i = 0; i < of->count; i++) {
        const struct capture_operand *operand = &of->list[i];
        if (phase == BEFORE ? operand->read : operand->written) {
            copy_tensor(operand, call, stream, phase, in_full(of->function));
        }
    }
    if (pending_count > MOST_PENDING || pending_bytes > ROOM / 2) {
        drain_all();
    }
}

static bool is_copied(void)
{
    return capture_settings.contents != CAPTURE_CONTENTS_NONE || capture_settings.full[0] != '\0';
}

void capture_before(const struct capture_function *function, uint64_t call,
                    const union mock_word *words)
{
    const struct capture_operands *of;
    switch (function->hook) {
    case CAPTURE_PHASE_2:
        of = capture_operands_of(words[2].bits);
        if (of != NULL && graphs == 0) {
            copy_operands(call, of, words[3].bits, BEFORE);
        }
        break;
    case CAPTURE_COPY: /* dst, destMax, src, count, kind */
        if (is_copied() && (int32_t)words[4].bits == TO_DEVICE && words[2].pointer != NULL) {
            const struct capture_operand host = {.parameter = 2};
            write_contents(call, &host, HOST, words[2].pointer, words[3].bits,
                           capture_settings.contents == CAPTURE_CONTENTS_FULL);
        }
        break;
    case CAPTURE_DRAIN:
        drain_all();
        break;
    case CAPTURE_RESET:
        free_room();
        break;
    default:
        break;
    }
}

/* A collective operation: sendBuf, recvBuf, count, dataType, ...; its stream is the last. */
static void copy_received(const struct capture_function *function, uint64_t call,
                          const union mock_word *words)
{
    size_t received = function->count, count = 0, type = 0;
    for (size_t i = 0; i < function->count; i++) {
        if (function->parameters[i].written) {
            received = i;
            count = function->parameters[i].other;
            type = function->parameters[i].size;
        }
    }
    if (received < function->count && graphs == 0) {
        static const uint8_t SIZES[] = {1, 2, 4, 2, 4, 8, 8, 1, 2, 4, 8, 2};
        const uint64_t kind = words[type].bits & UINT32_MAX;
        struct capture_operand operand = {.parameter = (uint8_t)received, .written = true};
        operand.tensor.data = (uint8_t *)(uintptr_t)words[received].bits;
        operand.tensor.dimensions[0] = (int64_t)words[count].bits;
        operand.tensor.strides[0] = 1;
        operand.tensor.rank = 1;
        operand.tensor.element_size = kind < sizeof SIZES ? SIZES[kind] : 0;
        copy_tensor(&operand, call, words[function->count - 1].bits, AFTER, in_full(function));
    }
}

void capture_after(const struct capture_function *function, uint64_t call,
                   const union mock_word *words, uint64_t result)
{
    const bool failed = function->result == 'i' && (int32_t)result != 0;
    if (!is_copied()) {
        return;
    }
    struct capture_operands *of;
    switch (failed && function->hook != CAPTURE_PHASE_2 && function->hook != CAPTURE_SYNCHRONIZE
                ? CAPTURE_NO_HOOK
                : function->hook) {
    case CAPTURE_PHASE_1:
        capture_note_operands(function, words);
        break;
    case CAPTURE_PHASE_2:
        of = capture_operands_of(words[2].bits);
        if (of != NULL && graphs == 0 && !failed && capture_wanted(call)) {
            copy_operands(call, of, words[3].bits, AFTER);
        }
        if (of != NULL && !of->repeatable) {
            capture_destroy(words[2].bits);
        }
        break;
    case CAPTURE_CREATE_TENSOR:
        capture_create_tensor(words, result);
        break;
    case CAPTURE_CREATE_LIST:
        capture_create_list(words, result);
        break;
    case CAPTURE_DESTROY:
        capture_destroy(words[0].bits);
        break;
    case CAPTURE_REPEATABLE:
        of = capture_operands_of(words[0].bits);
        if (of != NULL) {
            of->repeatable = true;
        }
        break;
    case CAPTURE_ADDRESS:
        capture_set_address(words);
        break;
    case CAPTURE_COLLECTIVE:
        if (capture_wanted(call)) {
            copy_received(function, call, words);
        }
        break;
    case CAPTURE_SYNCHRONIZE:
        if ((int32_t)result != TIMED_OUT) { /* else the copies are still on their way */
            finish(take(false, words[0].bits), failed);
        }
        break;
    case CAPTURE_GRAPH_BEGIN:
    case CAPTURE_GRAPH_END:
        graphs += function->hook == CAPTURE_GRAPH_BEGIN ? 1U : graphs != 0 ? UINT32_MAX : 0;
        break;
    default:
        break;
    }
}
