/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at every live handle. The lock is held. */
#ifndef MOCK_RUNTIME_HANDLES_H
#define MOCK_RUNTIME_HANDLES_H

#include "mock.h"

struct mock_living {
    const void *handle;
    const void *object;
    enum mock_kind kind;
    enum mock_mark mark;
    const struct mock_history *history;
    bool *reported; /* as still alive, so that it is said once */
};

/* The visitor may not make or close handles. */
void mock_handles_each(void (*visit)(const struct mock_living *living, void *data), void *data);

#endif
