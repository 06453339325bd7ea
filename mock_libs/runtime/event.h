/* SPDX-License-Identifier: Apache-2.0 */
/* What the two files about events share: how streams use them, and how the host does. */
#ifndef MOCK_RUNTIME_EVENT_H
#define MOCK_RUNTIME_EVENT_H

#include "state.h"

/* What an event does before it is recorded depends on the function that made it. */
enum constructor { PLAIN, WITH_FLAG, EX_WITH_FLAG };

struct event {
    struct context *context; /* the event ends with the context it was made in: ask by handle */
    void *context_handle;
    enum constructor constructor;
    uint32_t flags;
    uint64_t records;   /* record calls so far */
    uint64_t recorded;  /* the latest record that was reached */
    uint64_t forgotten; /* records before the latest call of reset */
    uint64_t reset;     /* records before the latest reset that was reached */
    void *stream;       /* where the latest record stands */
    uint64_t position;
    uint64_t waits; /* waits queued and not passed */
    uint64_t nanoseconds;
};

/* The event behind a handle, or NULL with the code in *status. */
struct event *mock_event_find(aclrtEvent handle, aclError *status);
/* Records that an event broke a rule. */
void mock_event_report(enum mock_rule rule, aclrtEvent handle, const char *text);

#endif
