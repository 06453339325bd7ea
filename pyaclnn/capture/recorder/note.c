/* SPDX-License-Identifier: Apache-2.0 */
/* What a call has made, ended or chosen. */
#include "note.h"

#include <string.h>

#include "graphs.h"
#include "locks.h"
#include "settings.h"

static _Thread_local struct capture_object *place;

struct capture_object *capture_place(void)
{
    return place;
}

bool capture_matters(const struct capture_function *function)
{
    return function->creates || function->destroys || function->places || function->draws;
}

static uint64_t written_at(const union mock_word word)
{
    uint64_t handle;
    memcpy(&handle, word.pointer, sizeof handle);
    return handle;
}

static bool is_named(const struct capture_parameter *parameter, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(parameter->name, name, length) == 0 && strcspn(parameter->name, " ") == length;
}

/* The first phase of an operator makes an executor. */
static void note_executor(const struct capture_function *function, const struct capture_call *call,
                          const union mock_word *words)
{
    struct capture_object *made = capture_make(call, place);
    for (size_t i = 0; call != NULL && i + 2 < function->count; i++) {
        if (strchr("tTaAIFB", function->parameters[i].letter) != NULL) {
            capture_need(made, capture_find(words[i].bits));
        }
    }
    made->operands = capture_is_copied() ? capture_given(function, words) : NULL;
    capture_name(made, written_at(words[function->count - 1]));
}

/* A call becomes a part of the graph that is captured, and so does what it uses, as it is now. */
static void draw(const struct capture_function *function, const struct capture_call *call,
                 const union mock_word *words, const struct capture_operands *operands)
{
    struct capture_object *made = capture_make(call, place);
    for (size_t i = 0; i < function->count; i++) {
        const struct capture_parameter *parameter = &function->parameters[i];
        if (is_named(parameter, "executor") || is_named(parameter, "event") ||
            is_named(parameter, "stream")) {
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
                      const union mock_word *words, uint64_t result)
{
    const struct capture_parameter *first = &function->parameters[0];
    uint64_t handle = function->result == 'p' ? result : words[0].bits;
    if (function->result != 'p' && first->letter == 'o') {
        handle = written_at(words[0]);
    }
    if (handle == 0) { /* CANN has refused, and its arguments may be anything */
        return;
    }
    const bool tensors = capture_is_copied() && (function->hook == CAPTURE_CREATE_TENSOR ||
                                                 function->hook == CAPTURE_CREATE_LIST);
    if ((function->finds && capture_find(handle) != NULL) || (call == NULL && !tensors)) {
        return;
    }
    struct capture_object *made = capture_make(call, place);
    made->owns = first->letter == 'l' && first->written;
    for (uint64_t i = 0; made->owns && i < words[1].bits; i++) {
        capture_need(made, capture_find(((const uint64_t *)words[0].pointer)[i]));
    }
    if (tensors) {
        made->operands = made->owns ? capture_list(words[0].pointer, words[1].bits)
                                    : capture_tensor(words, handle);
    }
    capture_name(made, handle);
}

static void note_drawing(const struct capture_function *function, const struct capture_call *call,
                         const union mock_word *words, int32_t status, bool taken)
{
    const bool executor = function->hook == CAPTURE_REPEATABLE || function->hook == CAPTURE_ADDRESS;
    struct capture_object *one = executor ? capture_find(words[0].bits) : NULL;
    switch (function->hook) {
    case CAPTURE_PHASE_1:
        note_executor(function, call, words);
        return;
    case CAPTURE_PHASE_2:
        one = capture_find(words[2].bits);
        if (taken) {
            draw(function, call, words, one == NULL ? NULL : one->operands);
        }
        if (one != NULL && !one->lasts) {
            capture_forget(words[2].bits);
        }
        return;
    case CAPTURE_GRAPH_END: /* of several at a time the last one keeps all */
        if (status == 0) {
            draw(function, call, words, NULL);
        }
        capture_graph_end(words[0].bits, status, status == 0 ? written_at(words[1]) : 0);
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

static void choose_place(const struct capture_call *call)
{
    capture_release(place);
    place = call == NULL ? NULL : capture_make(call, NULL);
}

void capture_note(const struct capture_function *function, const struct capture_call *call,
                  const union mock_word *words, uint64_t result)
{
    const int32_t status = function->result == 'i' ? (int32_t)result : 0;
    const bool taken = function->hook == CAPTURE_PHASE_2 && status == 0 &&
                       capture_graph_takes(words[3].bits);
    if (status != 0 && function->hook != CAPTURE_PHASE_2 && function->hook != CAPTURE_GRAPH_END) {
        return;
    }
    pthread_mutex_lock(&capture_locks[CAPTURE_OBJECTS]);
    if (function->draws) {
        note_drawing(function, call, words, status, taken);
    } else if (function->destroys) {
        capture_forget(words[0].bits);
    } else if (function->creates) {
        note_made(function, call, words, result);
    } else {
        choose_place(call);
    }
    pthread_mutex_unlock(&capture_locks[CAPTURE_OBJECTS]);
}
