/* SPDX-License-Identifier: Apache-2.0 */
/* The gate every exported function passes: it counts calls, injects faults, notes the caller. */
#ifndef MOCK_GATE_H
#define MOCK_GATE_H

#include "frame.h"

#pragma GCC visibility push(default) /* used by the libraries of a release */

/* Enters a call. true: a fault says that it answers frame->code and does nothing. */
bool mock_gate_open(struct mock_frame *frame, struct mock_function *function, const void *caller);
/* Ends a call; the status it answers. */
int mock_gate_close(struct mock_frame *frame, int status);
/* A pointer that the function takes for one into the host's memory. */
struct mock_pointer {
    const char *name;
    const void *value;
};

/* Whether one of the pointers is a device address, which the call must not follow: it ends then, as
 * mock_gate_close ends it, with frame->code as its answer. */
bool mock_gate_refuse(struct mock_frame *frame, const struct mock_pointer *pointers, size_t count);

#pragma GCC visibility pop

#endif
