/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that a call creates, destroys or makes current. */
#include "note.h"

#include <sched.h>
#include <string.h>

#include "clock.h"
#include "graphs.h"
#include "locks.h"
#include "settings.h"

enum { PATIENCE = 1000000000 }; /* nanoseconds */

static _Thread_local struct capture_object *place;
static struct capture_use *uses; /* of all threads */

struct capture_object *capture_place(void)
{
    return place;
}

void capture_leave(void)
{
    pthread_mutex_lock(&capture_locks[CAPTURE_OBJECTS]);
    capture_release(place);
    pthread_mutex_unlock(&capture_locks[CAPTURE_OBJECTS]);
    place = NULL;
}

bool capture_matters(const struct capture_function *function)
{
    return function->creates || function->destroys || function->places || function->draws ||
           function->hook == CAPTURE_RESET;
}

bool capture_is_located(const struct capture_function *function)
{
    const bool creates = function->creates && function->result == 'i';
    return creates || function->places || function->hook == CAPTURE_GRAPH_END;
}

static uint64_t written_at(const union mock_word word)
{
    uint64_t handle;
    memcpy(&handle, word.pointer, sizeof handle);
    return handle;
}

/* The handle of what a call has made: of a mapping, the byte behind its address. */
static uint64_t made_by(const struct capture_function *function, const union mock_word *words,
                        uint64_t result)
{
    if (function->hook == CAPTURE_PHASE_1) {
        return written_at(words[function->count - 1]);
    }
    if (function->result == 'p') {
        return result;
    }
    return function->parameters[0].letter == 'o' ? written_at(words[0]) : words[0].bits + function->maps;
}

void capture_begin_use(struct capture_use *use, const struct capture_function *function,
                       const union mock_word *words)
{
    const bool second = function->hook == CAPTURE_PHASE_2;
    const bool ends = second || function->destroys;
    if (!ends && function->hook != CAPTURE_GRAPH_RUN && function->hook != CAPTURE_REPEATABLE &&
        function->hook != CAPTURE_ADDRESS) {
        return;
    }
    const uint64_t handle = words[second ? 2 : 0].bits + function->maps;
    if (handle == 0) { /* programs end what they never made */
        return;
    }
    pthread_mutex_lock(&capture_locks[CAPTURE_OBJECTS]);
    use->object = capture_find(handle);
    if (use->object != NULL) {
        use->object->references++;
    }
    if (ends) {
        use->ends = handle;
        use->next = uses;
        __atomic_store_n(&uses, use, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&capture_locks[CAPTURE_OBJECTS]);
}

void capture_end_use(struct capture_use *use)
{
    if (use->object == NULL && use->ends == 0) {
        return;
    }
    pthread_mutex_lock(&capture_locks[CAPTURE_OBJECTS]);
    struct capture_use **at = &uses;
    while (*at != NULL && *at != use) {
        at = &(*at)->next;
    }
    if (*at != NULL) {
        __atomic_store_n(at, use->next, __ATOMIC_RELAXED);
    }
    capture_release(use->object);
    pthread_mutex_unlock(&capture_locks[CAPTURE_OBJECTS]);
}

static bool is_ending(uint64_t handle)
{
    bool found = false;
    pthread_mutex_lock(&capture_locks[CAPTURE_OBJECTS]);
    for (const struct capture_use *use = uses; use != NULL && !found; use = use->next) {
        const struct capture_object *object = use->object;
        found = use->ends == handle;
        for (size_t i = 0; object != NULL && object->owns && i < object->count && !found; i++) {
            found = object->needs[i]->key == handle;
        }
    }
    pthread_mutex_unlock(&capture_locks[CAPTURE_OBJECTS]);
    return found;
}

void capture_await_ends(const struct capture_function *function, const union mock_word *words,
                        uint64_t result)
{
    if (!(function->creates || function->hook == CAPTURE_PHASE_1) ||
        __atomic_load_n(&uses, __ATOMIC_RELAXED) == NULL) {
        return;
    }
    const uint64_t handle = made_by(function, words, result);
    const uint64_t begin = capture_now(CLOCK_MONOTONIC_COARSE);
    while (is_ending(handle) && capture_now(CLOCK_MONOTONIC_COARSE) - begin < PATIENCE) {
        sched_yield();
    }
}

/* A child of a fork has none of the threads that use anything. */
static void forget_uses(void)
{
    uses = NULL;
}
CAPTURE_IN_CHILD(forget_uses)

/* The first phase of an operator makes an executor. */
static void note_executor(const struct capture_function *function, const struct capture_call *call,
                          const union mock_word *words)
{
    struct capture_object *made = capture_make(call, place);
    if (made == NULL) {
        return;
    }
    for (size_t i = 0; call != NULL && i + 2 < function->count; i++) {
        if (strchr("tTaAIFB", function->parameters[i].letter) != NULL) {
            capture_need(made, capture_find(words[i].bits));
        }
    }
    made->operands = capture_is_copied() ? capture_given(function, words) : NULL;
    capture_name(made, made_by(function, words, 0));
}

/* A call becomes a part of the graph that is captured, and so does what it uses, as it is now. */
static void draw(const struct capture_function *function, const struct capture_call *call,
                 const union mock_word *words, const struct capture_operands *operands)
{
    struct capture_object *made = capture_make(call, place);
    for (size_t i = 0; i < function->count; i++) {
        const struct capture_parameter *parameter = &function->parameters[i];
        if (capture_is_named(parameter, "executor") || capture_is_named(parameter, "event") ||
            capture_is_named(parameter, "stream")) {
            struct capture_object *used = capture_find(words[i].bits);
            capture_need(made, used);
            for (size_t j = 0; used != NULL && j < used->count; j++) {
                capture_need(made, used->needs[j]->later ? used->needs[j] : NULL);
            }
        }
    }
    capture_graph_draw(made, operands);
    capture_release(made);
}

static void note_made(const struct capture_function *function, const struct capture_call *call,
                      const union mock_word *words, uint64_t result, uint64_t context)
{
    const struct capture_parameter *first = &function->parameters[0];
    const uint64_t handle = made_by(function, words, result);
    if (handle == 0) { /* CANN has refused, and its arguments may be anything */
        return;
    }
    const bool tensors = capture_is_copied() && (function->hook == CAPTURE_CREATE_TENSOR ||
                                                 function->hook == CAPTURE_CREATE_LIST);
    if ((function->finds && capture_find(handle) != NULL) || (call == NULL && !tensors)) {
        return;
    }
    struct capture_object *made = capture_make(call, place);
    if (made == NULL) {
        return;
    }
    made->context = context;
    made->owns = first->letter == 'l' && first->written;
    for (uint64_t i = 0; made->owns && i < words[1].bits; i++) {
        capture_need(made, capture_find(((const uint64_t *)words[0].pointer)[i]));
    }
    for (size_t i = 0; function->maps && i < function->count; i++) {
        capture_need(made, capture_find(words[i].bits));
    }
    if (tensors) {
        made->operands = made->owns ? capture_list(words[0].pointer, words[1].bits)
                                    : capture_tensor(words, handle);
    }
    capture_name(made, handle);
}

static void note_drawing(const struct capture_function *function, const struct capture_call *call,
                         const union mock_word *words, int32_t status,
                         const struct capture_noted *noted)
{
    struct capture_object *one = noted->used;
    switch (function->hook) {
    case CAPTURE_PHASE_1:
        note_executor(function, call, words);
        return;
    case CAPTURE_PHASE_2:
        if (noted->drawn) {
            draw(function, call, words, one == NULL ? NULL : one->operands);
        }
        if (one != NULL && !one->lasts) {
            capture_forget(one);
        }
        return;
    case CAPTURE_GRAPH_END: /* of several at a time the last one keeps all */
        if (status == 0) {
            draw(function, call, words, NULL);
        }
        capture_graph_end(words[0].bits, status, status == 0 ? written_at(words[1]) : 0,
                          noted->context);
        return;
    case CAPTURE_GRAPH_BEGIN:
        capture_graph_begin(words[0].bits);
        break;
    case CAPTURE_ADDRESS:
        if (one != NULL) {
            capture_set_address(one->operands, words);
            capture_change(one, capture_make(call, place), words[2].bits);
        }
        break;
    case CAPTURE_REPEATABLE:
        if (one != NULL) {
            one->lasts = true;
            capture_change(one, capture_make(call, place), 0);
        }
        return;
    default:
        break;
    }
    if (capture_graph_is_open()) {
        draw(function, call, words, NULL);
    }
}

static void choose_place(const struct capture_function *function, const struct capture_call *call,
                         const union mock_word *words, uint64_t context)
{
    capture_release(place);
    place = call == NULL ? NULL : capture_make(call, NULL);
    if (place != NULL) {
        place->context = context;
    }
    if (function->parameters[0].letter == 'i') { /* a device, not a context */
        capture_set_device(words[0].bits & UINT32_MAX, context);
    }
}

void capture_note(const struct capture_function *function, const struct capture_call *call,
                  const union mock_word *words, uint64_t result, const struct capture_noted *noted)
{
    const int32_t status = function->result == 'i' ? (int32_t)result : 0;
    if (status != 0 && function->hook != CAPTURE_PHASE_2 && function->hook != CAPTURE_GRAPH_END) {
        return;
    }
    pthread_mutex_lock(&capture_locks[CAPTURE_OBJECTS]);
    if (function->draws) {
        note_drawing(function, call, words, status, noted);
    } else if (function->destroys) {
        capture_forget(noted->used);
    } else if (function->creates) {
        note_made(function, call, words, result, noted->context);
    } else if (function->places) {
        choose_place(function, call, words, noted->context);
    } else if (function->count == 0) { /* aclFinalize */
        capture_reset_all();
    } else {
        capture_reset_device(words[0].bits & UINT32_MAX, function->forces);
    }
    pthread_mutex_unlock(&capture_locks[CAPTURE_OBJECTS]);
}
