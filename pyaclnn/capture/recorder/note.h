/* SPDX-License-Identifier: Apache-2.0 */
/* Objects that a call creates, destroys or makes current. */
#pragma once

#include "functions.h"
#include "objects.h"
#include "registers.h"

/* A use of an object by a call, from before the call until it is recorded. */
struct capture_use {
    struct capture_object *object; /* that the call ends, uses or changes; or NULL */
    uint64_t ends;                 /* the handle that another thread may be given now, or 0 */
    struct capture_use *next;
};
void capture_begin_use(struct capture_use *use, const struct capture_function *function,
                       const union mock_word *words);
void capture_end_use(struct capture_use *use);
/* Wait until the calls of other threads that ended the handle of what a call has made are recorded:
 * in a trace, too, its first object ends before the second one begins. */
void capture_await_ends(const struct capture_function *function, const union mock_word *words,
                        uint64_t result);

/* Answers of CANN about a call, asked for before locks are taken. */
struct capture_noted {
    struct capture_object *used; /* the object of its use */
    uint64_t context;            /* of its thread, if the call is located */
    bool drawn;                  /* it has become a part of a graph */
};
/* True if a call makes, ends, chooses or changes anything. */
bool capture_matters(const struct capture_function *function);
/* True if what it makes or chooses ends with a context of CANN. */
bool capture_is_located(const struct capture_function *function);
/* Note a call; NULL: its record is not kept. */
void capture_note(const struct capture_function *function, const struct capture_call *call,
                  const union mock_word *words, uint64_t result, const struct capture_noted *noted);
/* The call that chose where the calls of this thread are, or NULL; its thread ends. */
struct capture_object *capture_place(void);
void capture_leave(void);
