/* SPDX-License-Identifier: Apache-2.0 */
/* A call on its way to CANN: decoded, passed on, and recorded. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "convention.h"
#include "recorder.h"

/* Calls that CANN makes itself, while it is in one, are no calls of the program. */
static _Thread_local bool inside;
static _Thread_local uint32_t thread_number;
static _Thread_local struct capture_call made; /* the record of the call */
static _Thread_local struct capture_call chosen; /* the last one that chose where calls are */
static _Thread_local uint32_t placed;           /* the last file that has it */
static _Thread_local char *message; /* of the last failure, until the program asks */

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

static uint32_t thread_of(void)
{
    static uint32_t threads;
    if (thread_number == 0) {
        thread_number = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED);
    }
    return thread_number;
}

static uint64_t pass_on(const void *target, const struct capture_function *function,
                        const struct mock_registers *registers)
{
    struct arguments with;
    memcpy(with.integers, registers->integers, sizeof with.integers);
    memcpy(with.vectors, registers->vectors, sizeof with.vectors);
    memcpy(with.stack, registers->stack, function->stack * sizeof with.stack[0]);
    with.stack_count = function->stack;
    return call_with(target, &with);
}

static void put_array(const struct capture_parameter *parameter, const void *data, uint64_t count)
{
    if (data == NULL) {
        capture_number(&made.record, 0);
        return;
    }
    capture_number(&made.record, count + 1);
    if (parameter->size != 8) {
        capture_put(&made.record, data, count * parameter->size);
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        int64_t element;
        memcpy(&element, (const char *)data + 8 * i, sizeof element);
        capture_signed(&made.record, element);
    }
}

static void put_argument(const struct capture_function *function, size_t place,
                         const union mock_word *words, bool succeeded)
{
    const struct capture_parameter *parameter = &function->parameters[place];
    const union mock_word word = words[place];
    switch (parameter->letter) {
    case 's':
        capture_text(&made.record, word.pointer);
        break;
    case 'S': { /* may be a path */
        const size_t length = word.pointer == NULL ? 0 : strlen(word.pointer);
        const uint64_t hash = capture_hash(word.pointer, length);
        capture_number(&made.record, word.pointer == NULL ? 0 : length + 1);
        capture_put(&made.record, &hash, sizeof hash);
        break;
    }
    case 'd':
    case 'f':
        capture_put(&made.record, &word, sizeof word);
        break;
    case 'l':
        put_array(parameter, word.pointer, words[parameter->other].bits);
        break;
    case 'v':
    case 'n':
    case 'o': { /* where a pointer leads: a value of a type, a structure, an answer */
        const size_t size = parameter->letter == 'v'
                                ? capture_type_size((int32_t)words[parameter->other].bits)
                                : parameter->size;
        const bool there = word.pointer != NULL && (parameter->letter != 'o' || succeeded);
        capture_number(&made.record, word.pointer == NULL ? 0 : there ? size + 1 : 1);
        if (there) {
            capture_put(&made.record, word.pointer, size);
        }
        break;
    }
    case 'b':
    case 'c':
    case 'i':
    case 'q':
    case 'y':
        capture_signed(&made.record, (int64_t)word.bits);
        break;
    case 'u':
        capture_number(&made.record, word.bits & UINT32_MAX);
        break;
    case 'k':
        capture_number(&made.record, word.bits & UINT16_MAX);
        break;
    default:
        capture_number(&made.record, word.bits);
    }
}

/* Ask CANN about a failure before the program does, and keep its answer for the program. */
static void note_message(void)
{
    typedef const char *asking(void);
    asking *ask;
    void *address = capture_real("aclGetRecentErrMsg");
    memcpy(&ask, &address, sizeof ask);
    const char *text = address == NULL ? NULL : ask();
    message = text == NULL ? NULL : (char *)(uintptr_t)text;
    capture_text(&made.record, text);
}

static uint64_t record_call(uint32_t number, struct capture_function *function,
                            const void *target, const struct mock_registers *registers)
{
    union mock_word words[CAPTURE_MOST + 2];
    mock_words_read(registers, function->kinds, words);
    const uint64_t call = capture_next_call();
    const bool wanted = capture_wanted(call);
    if (wanted) {
        capture_before(function, call, words);
    }
    const uint64_t begin = now();
    uint64_t result;
    if (function->hook == CAPTURE_MESSAGE && message != NULL) {
        result = (uint64_t)(uintptr_t)message;
        message = NULL;
    } else {
        result = pass_on(target, function, registers);
    }
    const int error = errno;
    const uint64_t end = now();
    const bool failed = function->result == 'i' && (int32_t)result != 0;
    const bool kept = capture_keeping() &&
                      (function->creates || function->destroys || function->places);
    if (wanted || kept) {
        made.record.length = 0;
        made.number = number;
        capture_number(&made.record, 1);
        capture_number(&made.record, number);
        capture_number(&made.record, call);
        capture_number(&made.record, thread_of());
        capture_number(&made.record, begin);
        capture_number(&made.record, end - begin);
        if (function->result == 's') {
            capture_text(&made.record, (const char *)(uintptr_t)result);
        } else if (function->result == 'i') {
            capture_signed(&made.record, (int32_t)result);
        } else {
            capture_number(&made.record, function->result == 'v' ? 0 : result);
        }
        for (size_t i = 0; i < function->count; i++) {
            put_argument(function, i, words, !failed);
        }
        if (failed) {
            note_message();
        }
    }
    if (kept && !failed) {
        const uint64_t key = function->result == 'p' ? result : words[0].bits;
        if (function->destroys) {
            capture_forget(key);
        } else if (function->creates) {
            uint64_t handle = key;
            if (function->result != 'p' && function->parameters[0].letter == 'o') {
                memcpy(&handle, words[0].pointer, sizeof handle);
            }
            capture_keep(handle, &chosen, &made);
        }
    }
    if (wanted) {
        if (chosen.record.length != 0 && placed != capture_file()) {
            capture_write(&chosen.record, capture_function(chosen.number), chosen.number, false);
            placed = capture_file();
        }
        capture_write(&made.record, function, number, failed);
    }
    if (kept && !failed && function->places) {
        chosen.record.length = 0;
        capture_put(&chosen.record, made.record.data, made.record.length);
        chosen.number = number;
    }
    capture_after(function, call, words, result);
    errno = error;
    return result;
}

/* Called by entry.S for every call of a known function. */
uint64_t capture_arrive(const void *state, uint32_t number, const struct mock_registers *registers);

uint64_t capture_arrive(const void *state, uint32_t number, const struct mock_registers *registers)
{
    (void)state;
    struct capture_function *function = capture_function(number);
    const void *target = capture_target(number);
    if (inside || !(capture_active() || capture_keeping())) {
        return pass_on(target, function, registers);
    }
    inside = true;
    const uint64_t result = record_call(number, function, target, registers);
    inside = false;
    return result;
}
