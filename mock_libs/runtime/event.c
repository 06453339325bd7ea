/* SPDX-License-Identifier: Apache-2.0 */
/* Events. What an event does before it is recorded depends on the function that made it. */
#include "state.h"

#include <stdlib.h>

enum constructor { PLAIN, WITH_FLAG, EX_WITH_FLAG };

struct event {
    struct device *device;
    void *context; /* the event ends with the context it was made in */
    enum constructor constructor;
    uint32_t flags;
    uint64_t records;  /* record calls so far */
    uint64_t recorded; /* the latest record that was reached */
    uint64_t reset;    /* records up to this one are forgotten */
    void *stream;      /* where the latest record stands */
    uint64_t position;
    uint64_t waits; /* waits queued and not passed */
    uint64_t nanoseconds;
};

static struct event *find(aclrtEvent handle, aclError *status)
{
    struct event *event = mock_handle_get(handle, MOCK_EVENT);
    *status = ACL_SUCCESS;
    if (handle == NULL) {
        *status = mock_fail(ACL_ERROR_INVALID_PARAM, "the event is NULL");
        return NULL;
    }
    if (event == NULL || mock_handle_get(event->context, MOCK_CONTEXT) == NULL) {
        *status = mock_fail(ACL_ERROR_RT_INVALID_HANDLE, "%p is no live event: %s", handle,
                            event == NULL ? "it was destroyed, or never was one"
                                          : "it ended with its context");
        return NULL;
    }
    return event;
}

static bool is_recorded(const struct event *event)
{
    return event->records > event->reset;
}

static bool is_complete(const struct event *event)
{
    return event->recorded >= event->records;
}

static aclError create(aclrtEvent *handle, enum constructor constructor, uint32_t flags)
{
    const uint32_t known = ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS |
                           ACL_EVENT_TIME_LINE | ACL_EVENT_EXTERNAL;
    if (handle == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "the pointer for the new event is NULL");
    }
    aclError status;
    const struct context *context = mock_usable_context(&status);
    if (context == NULL) {
        return status;
    }
    if (constructor != PLAIN && (flags == 0 || (flags & ~known) != 0)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "event flag 0x%x; it must be a combination of 0x%x", flags, known);
    }
    const uint32_t limit = mock_chip()->events;
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
    event->device = context->device;
    event->context = context->handle;
    event->constructor = constructor;
    event->flags = flags;
    event->device->events++;
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
    struct event *live = find(handle, &status);
    struct event *event = mock_handle_close(handle, MOCK_EVENT);
    if (live != NULL) {
        live->device->events--;
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
    struct event *event = find(handle, &status);
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

void mock_event_reset(void *handle)
{
    struct event *event = mock_handle_get(handle, MOCK_EVENT);
    if (event != NULL) {
        event->reset = event->recorded;
    }
}

static aclError reset(aclrtEvent handle, aclrtStream stream_handle)
{
    aclError status;
    struct event *event = find(handle, &status);
    struct stream *stream = event == NULL ? NULL : mock_stream_find(stream_handle, true, &status);
    struct task *task = stream == NULL ? NULL : mock_stream_submit(stream, TASK_RESET);
    if (task != NULL) {
        task->as.event.event = handle;
    }
    return status;
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream)
{
    MOCK_GUARDED(reset(event, stream));
}

static aclError wait_unrecorded(const struct event *event)
{
    if (event->constructor == WITH_FLAG && (event->flags & ACL_EVENT_SYNC) != 0) {
        return ACL_SUCCESS; /* a real wait, for whoever records it later */
    }
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                     "a stream may not wait for this event before aclrtRecordEvent");
}

static aclError stream_wait(aclrtStream stream_handle, aclrtEvent handle)
{
    aclError status;
    struct event *event = find(handle, &status);
    struct stream *stream = event == NULL ? NULL : mock_stream_find(stream_handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    if (!is_recorded(event)) {
        if (event->constructor == EX_WITH_FLAG) {
            return ACL_SUCCESS;
        }
        status = wait_unrecorded(event);
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
    if (is_recorded(event)) {
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

/* ---- asking and waiting on the host ------------------------------------------------------- */

/* Lets the recorded work run, without waiting for anybody. */
static void advance(const struct event *event)
{
    struct stream *stream = mock_handle_get(event->stream, MOCK_STREAM);
    if (stream != NULL) {
        mock_stream_run(stream, event->position);
    }
}

static aclError is_ready(aclrtEvent handle, bool *ready)
{
    aclError status;
    const struct event *event = find(handle, &status);
    if (event == NULL) {
        return status;
    }
    status = mock_device_alive(event->device);
    *ready = is_recorded(event) ? is_complete(event) : event->constructor == EX_WITH_FLAG;
    if (!*ready && is_recorded(event)) {
        advance(event);
    }
    return status;
}

static aclError query_status(aclrtEvent handle, aclrtEventRecordedStatus *result)
{
    bool ready = false;
    if (result == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEventStatus: status is NULL");
    }
    const aclError status = is_ready(handle, &ready);
    *result = ready ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return status;
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *status)
{
    MOCK_GUARDED(query_status(event, status));
}

/* The deprecated query, whose numbers are the other way round. */
static aclError query(aclrtEvent handle, aclrtEventStatus *result)
{
    bool ready = false;
    if (result == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEvent: status is NULL");
    }
    const aclError status = is_ready(handle, &ready);
    *result = ready ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
    return status;
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status)
{
    MOCK_GUARDED(query(event, status));
}

static aclError query_waits(aclrtEvent handle, aclrtEventWaitStatus *result)
{
    if (result == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclrtQueryEventWaitStatus: status is NULL");
    }
    aclError status;
    const struct event *event = find(handle, &status);
    if (event != NULL) {
        *result = event->waits == 0 ? ACL_EVENT_WAIT_STATUS_COMPLETE
                                    : ACL_EVENT_WAIT_STATUS_NOT_READY;
    }
    return status;
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus *status)
{
    MOCK_GUARDED(query_waits(event, status));
}

static aclError synchronize(aclrtEvent handle, const struct timespec *deadline)
{
    aclError status;
    const struct event *event = find(handle, &status);
    if (event == NULL) {
        return status;
    }
    status = mock_device_alive(event->device);
    struct stream *stream = mock_handle_get(event->stream, MOCK_STREAM);
    if (status != ACL_SUCCESS || !is_recorded(event) || stream == NULL) {
        return status;
    }
    if (!mock_stream_wait(stream, event->position, deadline)) {
        return mock_fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT,
                         "the event was not reached within the timeout");
    }
    return ACL_SUCCESS;
}

aclError aclrtSynchronizeEvent(aclrtEvent event)
{
    MOCK_GUARDED(synchronize(event, NULL));
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout)
{
    if (timeout == 0 || timeout < -1) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "timeout is %d ms; it must be -1 (for ever) or above 0", timeout);
    }
    struct timespec deadline;
    mock_deadline(&deadline, timeout);
    MOCK_GUARDED(synchronize(event, timeout == -1 ? NULL : &deadline));
}

static aclError timestamp(aclrtEvent handle, uint64_t *nanoseconds)
{
    aclError status;
    const struct event *event = find(handle, &status);
    if (event == NULL) {
        return status;
    }
    if (!is_recorded(event)) {
        return mock_fail(ACL_ERROR_RT_INTERNAL_ERROR, "the event was never recorded");
    }
    if (!is_complete(event)) {
        return mock_fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                         "the event was not reached yet; synchronize with it first");
    }
    *nanoseconds = event->nanoseconds;
    return ACL_SUCCESS;
}

static aclError elapsed(float *milliseconds, aclrtEvent start, aclrtEvent end)
{
    uint64_t from = 0, to = 0;
    if (milliseconds == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclrtEventElapsedTime: ms is NULL");
    }
    aclError status = timestamp(start, &from);
    status = status != ACL_SUCCESS ? status : timestamp(end, &to);
    if (status != ACL_SUCCESS) {
        return status;
    }
    if (to < from) {
        return mock_fail(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL,
                         "the end event was reached before the start event");
    }
    *milliseconds = (float)((double)(to - from) / 1e6);
    return ACL_SUCCESS;
}

aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent, aclrtEvent endEvent)
{
    MOCK_GUARDED(elapsed(ms, startEvent, endEvent));
}

static aclError get_timestamp(aclrtEvent event, uint64_t *microseconds)
{
    if (microseconds == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclrtEventGetTimestamp: timestamp is NULL");
    }
    const aclError status = timestamp(event, microseconds);
    *microseconds = status == ACL_SUCCESS ? *microseconds / 1000 : 0;
    return status;
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp)
{
    MOCK_GUARDED(get_timestamp(event, timestamp));
}
