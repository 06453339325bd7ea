/* SPDX-License-Identifier: Apache-2.0 */
/* Events: look-up, and execution of their tasks. */
#include "event.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "error_message.h"
#include "share.h"

static uint32_t made_so_far;

/* ---- what processes share -------------------------------------------------------------------- */

/* NULL: it is not shared, or gone with its device. */
static struct mock_signal *signal_of(const struct event *event)
{
    return event->imported != NULL || event->number == 0 ? event->imported
                                                        : mock_shared_signal(event->number);
}

bool mock_event_share(struct event *event)
{
    event->number = mock_share_signal(event->context->device, true);
    struct mock_signal *signal = signal_of(event);
    if (signal == NULL) {
        return false;
    }
    signal->records = event->records;
    signal->nanoseconds = event->nanoseconds;
    signal->recorded = event->recorded;
    return true;
}

static void stop_sharing(const struct event *event)
{
    if (event->imported != NULL) {
        mock_import_signal_end(event->number, event->imported);
    } else if (event->number != 0 && mock_handle_get(event->context_handle, MOCK_CONTEXT) != NULL) {
        mock_share_withdraw(event->number); /* of a device that was closed nothing is left */
    }
}

void mock_event_add_record(struct event *event)
{
    struct mock_signal *signal = signal_of(event);
    event->records =
        (signal == NULL ? event->records : atomic_fetch_add(&signal->records, 1)) + 1;
}

/* Signals to the others that the latest record was reached. */
static void publish(const struct event *event)
{
    struct mock_signal *signal = signal_of(event);
    uint64_t published = signal == NULL ? event->recorded : signal->recorded;
    while (published < event->recorded) {
        signal->nanoseconds = event->nanoseconds;
        if (atomic_compare_exchange_weak(&signal->recorded, &published, event->recorded)) {
            break;
        }
    }
}

/* Update it from the shared state. */
static void refresh(struct event *event)
{
    struct mock_signal *signal = signal_of(event);
    if (signal == NULL) {
        return;
    }
    const uint64_t recorded = signal->recorded;
    if (recorded > event->recorded) {
        event->recorded = recorded;
        event->nanoseconds = signal->nanoseconds;
    }
    if (signal->records > event->records) {
        event->records = signal->records;
        event->stream = NULL; /* it is another process's */
        event->position = 0;
    }
}

/* ---- life -------------------------------------------------------------------------------------- */

struct event *mock_event_new(aclrtEvent *handle, enum constructor constructor, uint32_t flags,
                             aclError *status)
{
    struct context *context = mock_usable_context(status);
    if (context == NULL) {
        return NULL;
    }
    const uint32_t limit = context->device->chip->events;
    if (context->device->events >= limit) {
        *status = mock_fail(ACL_ERROR_RT_NO_EVENT_RESOURCE, "device %d has only %u events",
                            context->device->id, limit);
        return NULL;
    }
    struct event *event = calloc(1, sizeof *event);
    void *made = event == NULL ? NULL : mock_handle_new(MOCK_EVENT, event);
    if (made == NULL) {
        free(event);
        *status = mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for an event");
        return NULL;
    }
    event->context = context;
    event->context_handle = context->handle;
    event->constructor = constructor;
    event->flags = flags;
    event->id = made_so_far++;
    context->events++;
    context->device->events++;
    *handle = made;
    return event;
}

void mock_event_destroy(struct event *event)
{
    event->destroyed = true;
    if (event->tasks == 0) {
        stop_sharing(event);
        free(event);
    }
}

/* An event that ended with its context has the history of that. */
static void report_gone(const void *handle, const void *context)
{
    const struct mock_origin now = mock_origin_current();
    const bool destroying =
        now.function != NULL && strcmp(now.function, "aclrtDestroyEvent") == 0;
    enum mock_mark mark;
    struct mock_history history;
    if (context == NULL) {
        mock_violate_handle(handle, MOCK_EVENT, destroying);
    } else if (!destroying) { /* it is the only way to get rid of the handle */
        mock_handle_fate(context, MOCK_CONTEXT, &mark, &history);
        mock_violate(MOCK_HANDLE_DESTROYED, "event", handle, &history,
                     "this event ended with its context");
    }
}

struct event *mock_event_find(aclrtEvent handle, aclError *status)
{
    struct event *event = mock_handle_get(handle, MOCK_EVENT);
    *status = ACL_SUCCESS;
    if (handle == NULL) {
        *status = mock_fail(ACL_ERROR_INVALID_PARAM, "the event is NULL");
        return NULL;
    }
    if (event == NULL || mock_handle_get(event->context_handle, MOCK_CONTEXT) == NULL) {
        report_gone(handle, event == NULL ? NULL : event->context_handle);
        *status = mock_fail(ACL_ERROR_RT_INVALID_HANDLE, "%p is no live event: %s", handle,
                            event == NULL ? "it was destroyed, or never was one"
                                          : "it ended with its context");
        return NULL;
    }
    refresh(event);
    return event;
}

void mock_event_report(enum mock_rule rule, aclrtEvent handle, const char *text)
{
    mock_violate_object(rule, MOCK_EVENT, handle, "%s", text);
}

static void retain(struct event *event, aclrtEvent handle, struct task *task)
{
    task->as.event.event = handle;
    if ((event->flags & ACL_EVENT_IPC) != 0) {
        task->as.event.retained = event;
        event->tasks++;
    }
}

bool mock_event_is_external(const struct event *event)
{
    return (event->flags & ACL_EVENT_EXTERNAL) != 0;
}

bool mock_event_is_recorded(const struct event *event)
{
    return event->records > event->reset_requested;
}

void mock_event_queue_record(struct event *event, aclrtEvent handle, void *stream,
                             struct task *task)
{
    event->stream = stream;
    event->position = task->position;
    event->captured = NULL;
    mock_event_add_record(event);
    retain(event, handle, task);
    task->as.event.records = event->records;
}

void mock_event_queue_wait(struct event *event, aclrtEvent handle, struct task *task)
{
    event->waits++;
    retain(event, handle, task);
    task->as.event.records = event->records;
    if (mock_event_is_recorded(event)) {
        mock_event_set_source(event, task);
    }
}

void mock_event_queue_reset(struct event *event, aclrtEvent handle, struct task *task)
{
    task->as.event.event = handle;
    task->as.event.records = event->records;
    event->reset_requested = event->records;
}

static struct event *event_of(const struct task *task)
{
    return task->as.event.retained != NULL ? task->as.event.retained
                                       : mock_handle_get(task->as.event.event, MOCK_EVENT);
}

void mock_event_recorded(const struct task *task)
{
    struct event *event = event_of(task);
    if (event != NULL && task->as.event.records > event->recorded) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        event->recorded = task->as.event.records;
        event->nanoseconds = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
        publish(event);
    }
    mock_event_release(task);
}

void mock_event_release(const struct task *task)
{
    struct event *event = event_of(task);
    if (event != NULL && task->kind == TASK_WAIT) {
        event->waits--;
    }
    if (task->as.event.retained != NULL) {
        event->tasks--;
        if (event->destroyed) {
            mock_event_destroy(event);
        }
    }
}

void mock_event_set_source(const struct event *event, struct task *task)
{
    task->as.event.source = event->stream;
    task->as.event.position = event->position;
    task->as.event.records = event->records;
    task->as.event.other_process = event->stream == NULL;
}

bool mock_event_find_source(struct task *task)
{
    struct event *event = event_of(task);
    if (event == NULL) {
        return true; /* a destroyed event blocks no stream */
    }
    refresh(event);
    if (!task->as.event.other_process) {
        if (event->records == task->as.event.records) {
            return event->destroyed;
        }
        mock_event_set_source(event, task);
    }
    return !task->as.event.other_process || event->recorded >= task->as.event.records;
}

void mock_event_reset(void *handle, uint64_t number)
{
    struct event *event = mock_handle_get(handle, MOCK_EVENT);
    if (event != NULL && number > event->reset) {
        event->reset = number;
    }
}
