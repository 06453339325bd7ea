/* SPDX-License-Identifier: Apache-2.0 */
/* The call in progress of each thread, and its caller. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mock_function {
    const char *name;
    bool status; /* answers a status code */
    bool locked; /* runs under the lock, which the gate takes */
    bool runs;   /* phase 2 of an operator */
    bool refuses; /* is there to be linked, and does nothing */
    bool is_chained; /* one that refuses, a C++ member, answers its object */
    int8_t nothing; /* the answer of one that refuses and has no status: 0, or -1 for undefined */
    uint16_t number; /* of its work in the table of what works behind such gates */
    void (*work)(void); /* what is behind the gate; NULL of an operator */
    _Atomic uint64_t calls;
};

enum mock_effect {
    MOCK_NO_EFFECT,
    MOCK_IS_SLOW,     /* takes so many microseconds longer */
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
    bool recorded;      /* by a recorder for itself: no call of the program */
    struct mock_frame *outer;
    enum mock_effect effect;
    int code;            /* or microseconds */
    unsigned fault;      /* which fault the effect is of */
    uint64_t generation; /* and of which setting of faults */
};

/* Origin of an action: the exported function, its caller, and the line of Python, if the caller
 * has set it; each NULL if it is unknown. */
struct mock_origin {
    const char *function;
    const void *caller;
    const char *line;
    bool recorded; /* a recorder's */
};

/* Make a frame the calling thread's call in progress / ends it. */
void mock_frame_begin(struct mock_frame *frame, struct mock_function *function, const void *caller);
void mock_frame_pop(const struct mock_frame *frame);

#pragma GCC visibility push(default) /* used by the libraries of a release */

/* The calling thread calls on behalf of a line of a file from now on, which may be NULL; gives what
 * that was before. */
const char *mock_frame_set_line(const char *line);
/* The next calls of this thread come from a recorder: for a caller in the program, or, where that is
 * NULL and `recorded` is set, for the recorder itself. */
void mock_frame_set_caller(const void *caller, bool recorded);

#pragma GCC visibility pop

/* The calling thread's call in progress, or NULL. */
struct mock_frame *mock_frame_current(void);
struct mock_origin mock_origin_current(void);
