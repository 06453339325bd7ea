/* SPDX-License-Identifier: Apache-2.0 */
/* The gate every exported function passes: it counts calls, injects faults, notes the caller. */
#ifndef MOCK_GATE_H
#define MOCK_GATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default) /* used by the other mock libraries */

struct mock_function {
    const char *name;
    bool status; /* answers a status code */
    bool runs;   /* phase 2 of an operator */
    _Atomic uint64_t calls;
};

enum mock_effect {
    MOCK_NO_EFFECT,
    MOCK_FAILS,       /* answers the code and does nothing */
    MOCK_FAILS_AFTER, /* does its work, then answers the code */
    MOCK_FAILS_LATER, /* what it queues fails with the code when it runs */
    MOCK_HANGS,       /* what it queues never ends */
    MOCK_IS_WRONG,    /* the kernel it queues gives wrong numbers */
    MOCK_LOSES_DEVICE /* the device process is killed before the call */
};

/* One call in progress; calls nest when a callback calls CANN. */
struct mock_frame {
    const struct mock_function *function;
    const void *caller; /* return address in the program */
    struct mock_frame *outer;
    enum mock_effect effect;
    int code;
};

/* Where something was done: the exported function, and who called it. */
struct mock_origin {
    const char *function;
    const void *caller;
};

/* Enters a call. true: a fault says that it answers frame->code and does nothing. */
bool mock_gate_open(struct mock_frame *frame, struct mock_function *function, const void *caller);
/* Ends a call; the status it answers. */
int mock_gate_close(struct mock_frame *frame, int status);
void mock_gate_register(struct mock_function *functions, size_t count);
void mock_gate_unregister(const struct mock_function *functions);

/* The calling thread's call in progress, or NULL. */
struct mock_frame *mock_gate_current(void);
struct mock_origin mock_origin_now(void);

#pragma GCC visibility pop

#endif
