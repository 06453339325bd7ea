/* SPDX-License-Identifier: Apache-2.0 */
/* State of events, and execution of their tasks. */
#pragma once

#include "context.h"
#include "task.h"
#include "violation.h"

/* The behaviour of an unrecorded event depends on its constructor. */
enum constructor { PLAIN, WITH_FLAG, EX_WITH_FLAG };

struct event {
    struct context *context; /* the event ends with the context it was made in: ask by handle */
    void *context_handle;
    enum constructor constructor;
    uint32_t flags, id;
    uint64_t records;   /* record calls so far */
    uint64_t recorded;  /* the latest record that was reached */
    uint64_t reset_requested; /* records before the latest call of reset */
    uint64_t reset;     /* records before the latest reset that was reached */
    void *stream;       /* of the latest record */
    uint64_t position;
    void *captured;    /* handle of the graph that the latest record belongs to, or NULL */
    uint64_t waits; /* waits queued and not passed */
    uint64_t nanoseconds;
    uint64_t number;             /* by which processes share it, or 0 */
    struct mock_signal *imported; /* it is that of another process, or NULL */
    uint64_t tasks;              /* that hold it */
    bool destroyed;              /* though tasks hold it */
};

/* A new one in the current context, or NULL with the code in *status. */
struct event *mock_event_new(aclrtEvent *handle, enum constructor constructor, uint32_t flags,
                             aclError *status);
/* It is destroyed, and ends with the last task that holds it. */
void mock_event_destroy(struct event *event);
/* The event behind a handle, or NULL with the code in *status. */
struct event *mock_event_find(aclrtEvent handle, aclError *status);
/* Record that an event broke a rule. */
void mock_event_report(enum mock_rule rule, aclrtEvent handle, const char *text);
/* Other processes may find it under its number from now on. false: too much is shared already. */
bool mock_event_share(struct event *event);
/* Count another record, together with those of other processes. */
void mock_event_add_record(struct event *event);
/* Return whether a capture takes its records and waits as they are: they order no graph, and
 * every replay records the event itself, or waits for it. */
bool mock_event_is_external(const struct event *event);
/* Return whether there is a record that no reset has followed. */
bool mock_event_is_recorded(const struct event *event);
/* A task is queued, on a stream at its position, that records it, waits for it or resets it. */
void mock_event_queue_record(struct event *event, aclrtEvent handle, void *stream,
                             struct task *task);
void mock_event_queue_wait(struct event *event, aclrtEvent handle, struct task *task);
void mock_event_queue_reset(struct event *event, aclrtEvent handle, struct task *task);
/* Execute a record, a reset. */
void mock_event_recorded(const struct task *task);
void mock_event_reset(void *event, uint64_t record);
/* A wait is for the latest record. */
void mock_event_set_source(const struct event *event, struct task *task);
/* Return whether a wait without a known source is over, or has a source now. */
bool mock_event_find_source(struct task *task);
/* A task that recorded it, or waited for it, is over or dropped. */
void mock_event_release(const struct task *task);
