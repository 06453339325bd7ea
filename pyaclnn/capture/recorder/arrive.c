/* SPDX-License-Identifier: Apache-2.0 */
/* A call on its way to CANN: decoded, passed on, and recorded. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "convention.h"
#include "failures.h"
#include "file.h"
#include "flight.h"
#include "hooks.h"
#include "graphs.h"
#include "known.h"
#include "locks.h"
#include "note.h"
#include "program_waits.h"
#include "settings.h"
#include "ticker.h"
#include "wait_list.h"
#include "waits.h"

/* Calls that CANN makes itself, while it is in one, are no calls of the program. */
static _Thread_local bool inside;
static _Thread_local uint32_t thread_number;
static _Thread_local struct capture_call made; /* the record of the call */
static _Thread_local const char *message; /* of the last failure, until the program asks */
static pthread_key_t leaving;         /* set in a thread that has something to free */

static uint32_t thread_of(void)
{
    static uint32_t threads;
    if (thread_number == 0) {
        thread_number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
    }
    return thread_number;
}

static void leave(void *own)
{
    struct capture_bytes *record = own;
    free(record->data);
    *record = (struct capture_bytes){0};
    capture_leave_failures();
    capture_leave_flights();
    capture_leave();
}

__attribute__((constructor)) static void start(void)
{
    pthread_key_create(&leaving, leave);
}

static uint64_t pass_on(const void *target, const struct capture_function *function,
                        const struct mock_registers *registers)
{
    struct call_arguments with;
    memcpy(with.integers, registers->integers, sizeof with.integers);
    memcpy(with.vectors, registers->vectors, sizeof with.vectors);
    memcpy(with.stack, registers->stack, function->stack * sizeof with.stack[0]);
    with.stack_count = function->stack;
    capture_call_for(registers->caller);
    return call_with(target, &with);
}

/* A thread may be cancelled in CANN, as the program allows it; not in the recorder, which has locks. */
static uint64_t pass_on_cancelable(int state, const void *target, const struct capture_function *function,
                                   const struct mock_registers *registers)
{
    int own;
    pthread_setcancelstate(state, &own);
    const uint64_t result = pass_on(target, function, registers);
    pthread_setcancelstate(own, NULL);
    return result;
}

static void put_array(struct capture_bytes *to, const struct capture_parameter *parameter,
                      const void *data, uint64_t count)
{
    if (data == NULL || parameter->size != 8) { /* numbers of 64 bits are numbers, others bytes */
        capture_blob(to, data, count * parameter->size);
        return;
    }
    capture_array(to, count);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t element;
        memcpy(&element, (const char *)data + 8 * i, sizeof element);
        if (parameter->written) { /* handles */
            capture_number(to, element);
        } else {
            capture_signed(to, (int64_t)element);
        }
    }
}

static void put_argument(struct capture_bytes *to, const struct capture_function *function,
                         size_t number, const union mock_word *words, bool succeeded)
{
    const struct capture_parameter *parameter = &function->parameters[number];
    const union mock_word word = words[number];
    size_t size = parameter->size;
    /* Why CANN has refused a call may be an address. */
    if (!succeeded && word.pointer != NULL && strchr("sSlvn", parameter->letter) != NULL) {
        const uint64_t count = parameter->letter == 'l' ? words[parameter->other].bits : 1;
        uint64_t bytes = 1;
        if (__builtin_mul_overflow(count, size == 0 ? 1 : size, &bytes) ||
            (count != 0 && !capture_is_readable(word.pointer, bytes))) {
            capture_blob(to, NULL, 0);
            return;
        }
    }
    switch (parameter->letter) {
    case 's':
        capture_blob(to, word.pointer, word.pointer == NULL ? 0 : strlen(word.pointer));
        break;
    case 'S': { /* may be a path */
        const uint64_t hash =
            word.pointer == NULL ? 0 : capture_hash(word.pointer, strlen(word.pointer));
        capture_blob(to, word.pointer == NULL ? NULL : &hash, sizeof hash);
        break;
    }
    case 'd':
    case 'f':
        capture_double(to, word.bits);
        break;
    case 'l':
        put_array(to, parameter, word.pointer, words[parameter->other].bits);
        break;
    case 'v': /* where a pointer leads: a value of a type, a structure, an answer */
        size = capture_type_size((int32_t)words[parameter->other].bits);
        capture_blob(to, word.pointer, size);
        break;
    case 'n':
        capture_blob(to, word.pointer, size);
        break;
    case 'o':
        capture_blob(to, word.pointer, succeeded ? size : 0);
        break;
    case 'b':
    case 'c':
    case 'i':
    case 'q':
    case 'y':
        capture_signed(to, (int64_t)word.bits);
        break;
    case 'u':
        capture_number(to, word.bits & UINT32_MAX);
        break;
    case 'k':
        capture_number(to, word.bits & UINT16_MAX);
        break;
    default:
        capture_number(to, word.bits);
    }
}

/* Ask CANN about a failure before the program does, and keep its answer for the program. */
static void note_message(const char *kept)
{
    message = kept == NULL ? capture_ask(CAPTURE_RECENT_MESSAGE) : kept;
    capture_blob(&made.record, message, message == NULL ? 0 : strlen(message));
}

static void put_call(const struct capture_function *function, uint32_t number,
                     const uint64_t head[4], const union mock_word *words, uint64_t result,
                     const char *kept_message)
{
    struct capture_bytes *to = &made.record;
    const bool failed = function->result == 'i' && (int32_t)result != 0;
    const bool refused = failed || (function->result == 'p' && result == 0);
    if (to->data == NULL) {
        pthread_setspecific(leaving, to);
    }
    to->length = 0;
    made.number = number;
    made.file = 0;
    capture_array(to, 9);
    capture_number(to, 1);
    capture_number(to, number);
    for (size_t i = 0; i < 4; i++) {
        capture_number(to, head[i]);
    }
    if (function->result == 's') {
        const char *text = (const char *)(uintptr_t)result;
        capture_blob(to, text, text == NULL ? 0 : strlen(text));
    } else if (function->result == 'i') {
        capture_signed(to, (int32_t)result);
    } else {
        capture_number(to, function->result == 'v' ? 0 : result);
    }
    capture_array(to, function->count);
    for (size_t i = 0; i < function->count; i++) {
        put_argument(to, function, i, words, !refused);
    }
    if (failed) {
        note_message(kept_message);
    } else {
        capture_blob(to, NULL, 0);
    }
}

/* True if copies that a call ends are waited for before, recorded or not: their memory may be freed, and
 * a stream is waited for no more. */
static bool ends_copies(const struct capture_function *function)
{
    const uint8_t hook = function->hook;
    return hook == CAPTURE_RESET || hook == CAPTURE_END_STREAM || hook == CAPTURE_DROP_STREAM ||
           hook == CAPTURE_END_CONTEXT;
}

static uint64_t record_call(uint32_t number, struct capture_function *function, const void *target,
                            const struct mock_registers *registers, int cancel_state)
{
    union mock_word words[CAPTURE_MOST + 2];
    mock_words_read(registers, function->kinds, words);
    const uint64_t call = capture_next_call();
    const bool wanted = capture_wanted(call);
    struct capture_use use = {0};
    capture_begin_use(&use, function, words);
    const struct capture_operands *of = use.object == NULL ? NULL : use.object->operands;
    const uint8_t hook = function->hook;
    if (wanted || ends_copies(function)) {
        capture_before(function, call, words, of);
    }
    const bool waits = capture_is_copied() && capture_waits(function);
    if (waits) {
        capture_await(function, words);
    }
    if (hook == CAPTURE_GRAPH_BEGIN) {
        capture_bar_waits();
    }
    const bool changes = capture_begin_change(function, words);
    const uint64_t begin = capture_now(CLOCK_MONOTONIC);
    uint64_t result;
    if (function->hook == CAPTURE_MESSAGE && message != NULL) {
        result = (uint64_t)(uintptr_t)message;
        message = NULL;
    } else {
        if (wanted) {
            capture_keep_ticking();
            capture_depart(call, function->name, thread_of(), begin);
        }
        result = pass_on_cancelable(cancel_state, target, function, registers);
    }
    const int error = errno;
    const uint64_t end = capture_now(CLOCK_MONOTONIC);
    const char *kept_message = NULL;
    if (waits && result == 0) {
        result = (uint64_t)capture_kept_failure(function, words, &kept_message);
        message = result != 0 ? kept_message : message; /* also of a call that is not recorded */
    }
    const bool failed = function->result == 'i' && (int32_t)result != 0;
    const bool matters = capture_matters(function), kept = matters && capture_keeping();
    struct capture_noted noted = {.used = use.object};
    noted.drawn = function->hook == CAPTURE_PHASE_2 && !failed && capture_graph_takes(words[3].bits);
    if (kept && !failed && capture_is_located(function)) {
        noted.context = capture_context();
    }
    if (changes) {
        capture_end_change(function, words, failed ? (int32_t)result : 0, of);
    }
    if (!failed) {
        capture_await_ends(function, words, result);
    }
    if (function->result == 'i' && !failed && __atomic_load_n(&capture_chip, __ATOMIC_RELAXED) == NULL) {
        __atomic_store_n(&capture_chip, capture_ask(CAPTURE_CHIP), __ATOMIC_RELAXED);
    }
    if (wanted || kept) {
        const uint64_t head[] = {call, thread_of(), begin, end - begin};
        put_call(function, number, head, words, result, kept_message);
    }
    capture_return();
    /* A file that another thread begins has either the record or the object of a call under way. */
    pthread_mutex_lock(&capture_locks[CAPTURE_FILE]);
    if (wanted || (kept && capture_has_begun(call))) {
        capture_write_call(&made, capture_place(), failed);
    }
    if (kept || (matters && capture_is_copied())) {
        capture_note(function, kept ? &made : NULL, words, result, &noted);
    }
    capture_end_if_failed();
    pthread_mutex_unlock(&capture_locks[CAPTURE_FILE]);
    if (hook == CAPTURE_GRAPH_BEGIN) {
        capture_permit_waits();
    }
    if (waits) {
        capture_arrived(function, words, (int32_t)result);
    }
    capture_after(function, call, words, result, of, noted.drawn);
    capture_end_use(&use);
    if (capture_is_full()) { /* contents lie in the file of their call */
        capture_rotate(capture_is_at_rest());
    }
    errno = error;
    return result;
}

/* Called by entry.S: the target of a function that is not recorded, whose call is counted. */
void *capture_pass(const struct capture_description *front, uint32_t number);

void *capture_pass(const struct capture_description *front, uint32_t number)
{
    void *target = capture_target(front, number & INT32_MAX);
    if (!inside) {
        capture_forget_blocks();
        capture_count(number & INT32_MAX);
    }
    return target;
}

/* Called by entry.S for every call of a known function. */
uint64_t capture_arrive(const struct capture_description *front, uint32_t number,
                        const struct mock_registers *registers);

uint64_t capture_arrive(const struct capture_description *front, uint32_t number,
                        const struct mock_registers *registers)
{
    const void *target = capture_target(front, number);
    struct capture_function *function = capture_function(number);
    const bool records = !inside && (capture_active() || capture_keeping());
    if (!records && (inside || !ends_copies(function))) {
        return pass_on(target, function, registers);
    }
    int state;
    inside = true;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    if (!records) { /* any more: it has ended early */
        union mock_word words[CAPTURE_MOST + 2];
        mock_words_read(registers, function->kinds, words);
        capture_before(function, 0, words, NULL);
    }
    const uint64_t result = records ? record_call(number, function, target, registers, state)
                                    : pass_on_cancelable(state, target, function, registers);
    pthread_setcancelstate(state, NULL);
    inside = false;
    return result;
}
