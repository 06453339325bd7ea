/* SPDX-License-Identifier: Apache-2.0 */
/* What a call has made, ended or chosen, for a trace that begins later. */
#include "keep.h"

#include <string.h>

#include "graphs.h"

static _Thread_local struct capture_bytes entries; /* of what the call has made */

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

/* The first phase of an operator makes an executor; addresses of its tensors end with it. */
static void note_executor(const struct capture_function *function, const struct capture_call *call,
                          const union mock_word *words)
{
    const uint64_t executor = written_at(words[function->count - 1]);
    uint64_t keys[CAPTURE_MOST];
    size_t count = 0;
    for (size_t i = 0; i + 2 < function->count; i++) {
        const char letter = function->parameters[i].letter;
        if (strchr("tTaAIFB", letter) != NULL) {
            capture_add_makers(&entries, words[i].bits);
        }
        if (letter == 't') {
            keys[count++] = executor ^ words[i].bits;
        }
    }
    capture_add_call(&entries, call);
    capture_keep(executor, &entries, keys, count, false);
}

/* A call becomes a part of the graph that is captured, and so do the makers of what it uses. */
static void draw(const struct capture_function *function, const struct capture_call *call,
                 const union mock_word *words)
{
    uint64_t keys[CAPTURE_MOST];
    size_t count = 0;
    for (size_t i = 0; i < function->count; i++) {
        const struct capture_parameter *parameter = &function->parameters[i];
        if (is_named(parameter, "executor") || is_named(parameter, "event") ||
            is_named(parameter, "stream")) {
            keys[count++] = words[i].bits;
        }
    }
    capture_add_call(&entries, call);
    capture_draw(&entries, keys, count);
}

static void note_made(const struct capture_function *function, const struct capture_call *call,
                      const union mock_word *words, uint64_t result)
{
    const struct capture_parameter *first = &function->parameters[0];
    const bool list = first->letter == 'l' && first->written;
    uint64_t handle = function->result == 'p' ? result : words[0].bits;
    if (function->result != 'p' && first->letter == 'o') {
        handle = written_at(words[0]);
    }
    capture_add_call(&entries, call);
    capture_keep(handle, &entries, words[0].pointer, list ? words[1].bits : 0, function->finds);
}

static void note_drawing(const struct capture_function *function, const struct capture_call *call,
                         const union mock_word *words, bool failed)
{
    switch (function->hook) {
    case CAPTURE_PHASE_1:
        if (!failed) {
            note_executor(function, call, words);
        }
        break;
    case CAPTURE_PHASE_2:
        if (!failed && capture_graph_takes(words[3].bits)) {
            draw(function, call, words);
        }
        capture_forget(words[2].bits, true);
        break;
    case CAPTURE_REPEATABLE:
        if (!failed) {
            capture_keep_lasting(words[0].bits, call);
        }
        break;
    case CAPTURE_GRAPH_END: /* of several at a time the last one keeps all */
        if (!failed) {
            draw(function, call, words);
        }
        if (!capture_graph_is_open()) {
            capture_keep_drawn(failed ? 0 : written_at(words[1]));
        }
        break;
    default:
        if (!failed && capture_graph_is_open()) { /* as after it has begun */
            draw(function, call, words);
        }
        if (!failed && function->hook == CAPTURE_ADDRESS) {
            entries.length = 0;
            capture_add_call(&entries, call);
            capture_keep(words[0].bits ^ words[2].bits, &entries, NULL, 0, false);
        }
    }
}

void capture_note(const struct capture_function *function, const struct capture_call *call,
                  struct capture_call *place, const union mock_word *words, uint64_t result)
{
    const bool failed = function->result == 'i' && (int32_t)result != 0;
    entries.length = 0;
    capture_add_call(&entries, place);
    if (function->draws) {
        note_drawing(function, call, words, failed);
    } else if (failed) {
        return;
    } else if (function->destroys) {
        capture_forget(words[0].bits, false);
    } else if (function->creates) {
        note_made(function, call, words, result);
    } else {
        place->record.length = 0;
        capture_put(&place->record, call->record.data, call->record.length);
        place->number = call->number;
        place->file = call->file;
    }
}
