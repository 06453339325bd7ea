/* SPDX-License-Identifier: Apache-2.0 */
/* Events: what is known of each, and what happens to them when a stream comes to a task. */
#ifndef MOCK_EVENT_H
#define MOCK_EVENT_H

#include "context.h"
#include "violation.h"

/* What an event does before it is recorded depends on the function that made it. */
enum constructor { PLAIN, WITH_FLAG, EX_WITH_FLAG };

struct event {
    struct context *context; /* the event ends with the context it was made in: ask by handle */
    void *context_handle;
    enum constructor constructor;
    uint32_t flags, id;
    uint64_t records;   /* record calls so far */
    uint64_t recorded;  /* the latest record that was reached */
    uint64_t forgotten; /* records before the latest call of reset */
    uint64_t reset;     /* records before the latest reset that was reached */
    void *stream;       /* where the latest record stands */
    uint64_t position;
    void *captured;    /* handle of the graph that the latest record belongs to, or NULL */
    uint64_t waits; /* waits queued and not passed */
    uint64_t nanoseconds;
};

/* The event behind a handle, or NULL with the code in *status. */
struct event *mock_event_find(aclrtEvent handle, aclError *status);
/* Records that an event broke a rule. */
void mock_event_report(enum mock_rule rule, aclrtEvent handle, const char *text);
/* A stream has come to a record, a wait, a reset. */
void mock_event_recorded(void *event, uint64_t record);
void mock_event_waited(void *event);
void mock_event_reset(void *event, uint64_t record);

#endif
