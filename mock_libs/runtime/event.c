/* SPDX-License-Identifier: Apache-2.0 */
/* Events as streams see them: life, recording, waiting, resetting. */
#include "event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char NEVER[] = "no stream has recorded it: the wait orders nothing";

/* An event that ended with its context has the history of that. */
static void report_gone(const void *handle, const void *context)
{
    const struct mock_origin now = mock_origin_now();
    const bool destroying =
        now.function != NULL && strcmp(now.function, "aclrtDestroyEvent") == 0;
    enum mock_mark mark;
    struct mock_history history;
    if (context == NULL) {
        mock_violate_handle(handle, MOCK_EVENT, destroying);
    } else if (!destroying) { /* it is the only way to get rid of the handle */
        mock_handle_past(context, MOCK_CONTEXT, &mark, &history);
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
    return event;
}

void mock_event_report(enum mock_rule rule, aclrtEvent handle, const char *text)
{
    enum mock_mark mark;
    struct mock_history history;
    mock_handle_past(handle, MOCK_EVENT, &mark, &history);
    mock_violate(rule, "event", handle, &history, "%s", text);
}

static aclError create(aclrtEvent *handle, enum constructor constructor, uint32_t flags)
{
    const uint32_t known = ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS |
                           ACL_EVENT_TIME_LINE | ACL_EVENT_EXTERNAL;
    if (handle == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "the pointer for the new event is NULL");
    }
    aclError status;
    struct context *context = mock_usable_context(&status);
    if (context == NULL) {
        return status;
    }
    if (constructor != PLAIN && (flags == 0 || (flags & ~known) != 0)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "event flag 0x%x; it must be a combination of 0x%x", flags, known);
    }
    const uint32_t limit = context->device->chip->events;
    if (context->device->events >= limit) {
        return mock_fail(ACL_ERROR_RT_NO_EVENT_RESOURCE, "device %d has only %u events",
                         context->device->id, limit);
    }
    struct event *event = calloc(1, sizeof *event);
    void *made = event == NULL ? NULL : mock_handle_new(MOCK_EVENT, event);
    if (made == NULL) {
        free(event);
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for an event");
    }
    event->context = context;
    event->context_handle = context->handle;
    event->constructor = constructor;
    event->flags = flags;
    context->events++;
    context->device->events++;
    *handle = made;
    return ACL_SUCCESS;
}

aclError aclrtCreateEvent(aclrtEvent *event)
{
    MOCK_GUARDED(create(event, PLAIN, 0));
}

aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag)
{
    MOCK_GUARDED(create(event, WITH_FLAG, flag));
}

aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag)
{
    MOCK_GUARDED(create(event, EX_WITH_FLAG, flag));
}

static aclError destroy(aclrtEvent handle)
{
    aclError status;
    struct event *live = mock_event_find(handle, &status);
    struct event *event = mock_handle_close(handle, MOCK_EVENT);
    if (live != NULL) {
        live->context->events--;
        live->context->device->events--;
        mock_progress();
    }
    free(event);
    return status;
}

aclError aclrtDestroyEvent(aclrtEvent event)
{
    MOCK_GUARDED(destroy(event));
}

static aclError record(aclrtEvent handle, aclrtStream stream_handle)
{
    aclError status;
    struct event *event = mock_event_find(handle, &status);
    struct stream *stream = event == NULL ? NULL : mock_stream_find(stream_handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    struct task *task = mock_stream_submit(stream, TASK_RECORD);
    if (task == NULL) {
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    event->stream = stream->handle;
    event->position = task->position;
    task->as.event.event = handle;
    task->as.event.records = ++event->records;
    return ACL_SUCCESS;
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream)
{
    MOCK_GUARDED(record(event, stream));
}

void mock_event_recorded(void *handle, uint64_t number)
{
    struct event *event = mock_handle_get(handle, MOCK_EVENT);
    if (event != NULL && number > event->recorded) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        event->recorded = number;
        event->nanoseconds = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    }
}

void mock_event_waited(void *handle)
{
    struct event *event = mock_handle_get(handle, MOCK_EVENT);
    if (event != NULL) {
        event->waits--;
    }
}

void mock_event_reset(void *handle, uint64_t number)
{
    struct event *event = mock_handle_get(handle, MOCK_EVENT);
    if (event != NULL && number > event->reset) {
        event->reset = number;
    }
}

/* Only the older constructor with flags insists on them (CANN: aclrtCreateEventWithFlag). */
static void report_unfit(aclrtEvent handle, const struct event *event, uint32_t flag,
                         const char *name)
{
    char text[96];
    if (event->constructor == WITH_FLAG && (event->flags & flag) == 0) {
        snprintf(text, sizeof text, "it was made with flags 0x%x, without %s", event->flags, name);
        mock_event_report(MOCK_EVENT_MADE_FOR_SOMETHING_ELSE, handle, text);
    }
}

static aclError reset(aclrtEvent handle, aclrtStream stream_handle)
{
    aclError status;
    struct event *event = mock_event_find(handle, &status);
    struct stream *stream = event == NULL ? NULL : mock_stream_find(stream_handle, true, &status);
    struct task *task = stream == NULL ? NULL : mock_stream_submit(stream, TASK_RESET);
    if (task != NULL) {
        report_unfit(handle, event, ACL_EVENT_SYNC, "ACL_EVENT_SYNC");
        task->as.event.event = handle;
        task->as.event.records = event->records;
        event->forgotten = event->records;
    }
    return status;
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream)
{
    MOCK_GUARDED(reset(event, stream));
}

static aclError wait_unrecorded(aclrtEvent handle, const struct event *event)
{
    if (event->constructor == WITH_FLAG && (event->flags & ACL_EVENT_SYNC) != 0) {
        return ACL_SUCCESS; /* a real wait, for whoever records it later */
    }
    mock_event_report(MOCK_EVENT_UNRECORDED, handle, NEVER);
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                     "a stream may not wait for this event before aclrtRecordEvent");
}

static aclError stream_wait(aclrtStream stream_handle, aclrtEvent handle)
{
    aclError status;
    struct event *event = mock_event_find(handle, &status);
    struct stream *stream = event == NULL ? NULL : mock_stream_find(stream_handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    report_unfit(handle, event, ACL_EVENT_SYNC, "ACL_EVENT_SYNC");
    const bool recorded = event->records > event->forgotten;
    if (!recorded) {
        if (event->constructor == EX_WITH_FLAG) {
            mock_event_report(MOCK_EVENT_UNRECORDED, handle, NEVER);
            return ACL_SUCCESS;
        }
        status = wait_unrecorded(handle, event);
        if (status != ACL_SUCCESS) {
            return status;
        }
    }
    struct task *task = mock_stream_submit(stream, TASK_WAIT);
    if (task == NULL) {
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    event->waits++;
    task->as.event.event = handle;
    task->as.event.records = event->records;
    if (recorded) {
        task->as.event.source = event->stream;
        task->as.event.position = event->position;
    }
    return ACL_SUCCESS;
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event)
{
    MOCK_GUARDED(stream_wait(stream, event));
}

bool mock_event_resolve(struct task *task)
{
    const struct event *event = mock_handle_get(task->as.event.event, MOCK_EVENT);
    if (event == NULL || event->records == task->as.event.records) {
        return event == NULL; /* a destroyed event holds nobody up */
    }
    task->as.event.source = event->stream;
    task->as.event.position = event->position;
    return true;
}
