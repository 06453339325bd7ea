/* SPDX-License-Identifier: Apache-2.0 */
/* The gate of every exported function: it counts the call, injects faults, records the caller,
 * checks pointers, and takes the lock. */
#pragma once

#include "frame.h"

#pragma GCC visibility push(default) /* used by the libraries of a release */

/* An argument of a call that the gate checks. */
struct mock_argument {
    const char *name;
    const void *value;
    bool host;     /* a pointer that the function follows: a device address is refused */
    bool integer;  /* a number, and no pointer */
    int null_code; /* the answer to NULL, or 0; 0: both are allowed */
};

/* Enter a call. true: a fault or a wrong argument ends it; it answers frame->code and does
 * nothing. */
bool mock_gate_open(struct mock_frame *frame, struct mock_function *function,
                    const struct mock_argument *arguments, size_t count, const void *caller);
/* End a call; returns its status. */
int mock_gate_close(struct mock_frame *frame, int status);

#pragma GCC visibility pop
