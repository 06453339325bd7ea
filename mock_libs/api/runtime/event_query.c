/* SPDX-License-Identifier: Apache-2.0 */
/* Queries, synchronization and timing of events on the host. */
#include "capture.h"
#include "error_message.h"
#include "event.h"
#include "scheduler.h"
#include "stream_wait.h"
#include "timeout.h"
#include "wire.h"

static bool is_recorded(const struct event *event)
{
    return event->records > event->reset;
}

static bool is_complete(const struct event *event)
{
    return event->recorded >= event->records;
}

/* 0, or why the event cannot be reached any more. */
static aclError check_context(const struct event *event)
{
    const aclError status = mock_device_alive(event->context->device);
    if (status == ACL_SUCCESS && event->context->stopped != ACL_SUCCESS) {
        return mock_fail(event->context->stopped,
                         "the event's context was stopped by an earlier failure");
    }
    return status;
}

/* Let the recorded work run, without waiting for anybody. */
static void advance(const struct event *event)
{
    struct stream *stream = mock_handle_get(event->stream, MOCK_STREAM);
    if (stream != NULL) {
        mock_stream_advance(stream, event->position);
    } else {
        mock_run_awaited(); /* another process's record may wait for this one */
    }
}

static aclError is_ready(aclrtEvent handle, bool *ready)
{
    aclError status;
    const struct event *event = mock_event_find(handle, &status);
    if (event == NULL) {
        return status;
    }
    status = mock_capture_check_event_query(event, handle);
    status = status != ACL_SUCCESS ? status : check_context(event);
    *ready = is_recorded(event) ? is_complete(event) : event->constructor == EX_WITH_FLAG;
    if (!*ready && is_recorded(event)) {
        advance(event);
    }
    return status;
}

aclError aclrtQueryEventStatus(aclrtEvent handle, aclrtEventRecordedStatus *result)
{
    bool ready = false;
    const aclError status = is_ready(handle, &ready);
    *result = ready ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
    return status;
}

/* The deprecated query, whose numbers are the other way round. */
aclError aclrtQueryEvent(aclrtEvent handle, aclrtEventStatus *result)
{
    bool ready = false;
    const aclError status = is_ready(handle, &ready);
    *result = ready ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
    return status;
}

aclError aclrtQueryEventWaitStatus(aclrtEvent handle, aclrtEventWaitStatus *result)
{
    aclError status;
    const struct event *event = mock_event_find(handle, &status);
    status = event == NULL ? status : mock_capture_check_event_query(event, handle);
    if (status == ACL_SUCCESS) {
        *result = event->waits == 0 ? ACL_EVENT_WAIT_STATUS_COMPLETE
                                    : ACL_EVENT_WAIT_STATUS_NOT_READY;
    }
    return status;
}

/* Wait for a record of another process, at most until a deadline. */
static aclError wait_other_process(aclrtEvent handle, uint64_t record, const struct timespec *deadline)
{
    aclError status;
    const struct event *event = mock_event_find(handle, &status);
    while (event != NULL && event->recorded < record) {
        if (!mock_run_awaited_until(deadline)) {
            return ACL_ERROR_RT_STREAM_SYNC_TIMEOUT;
        }
        event = mock_event_find(handle, &status);
    }
    return ACL_SUCCESS;
}

/* The status of a finished wait: a record may have been dropped with its stream's work. */
static aclError wait_status(aclrtEvent handle, uint64_t record)
{
    aclError status;
    const struct event *event = mock_event_find(handle, &status);
    if (event != NULL) {
        status = check_context(event);
    }
    if (status == ACL_SUCCESS && event->recorded < record) {
        status = mock_fail(ACL_ERROR_RT_STREAM_ABORT,
                           "the event is never reached: the work of its stream was dropped");
    }
    return status;
}

static aclError synchronize(aclrtEvent handle, const struct timespec *deadline)
{
    aclError status;
    const struct event *event = mock_event_find(handle, &status);
    if (event == NULL) {
        return status;
    }
    status = mock_capture_check_event_query(event, handle);
    status = status != ACL_SUCCESS ? status : check_context(event);
    if (status == ACL_SUCCESS && !is_recorded(event)) {
        mock_event_report(MOCK_EVENT_UNRECORDED, handle,
                          "no stream has recorded it: there is nothing to wait for");
    }
    if (status != ACL_SUCCESS || !is_recorded(event)) {
        return status;
    }
    const uint64_t record = event->records;
    struct stream *stream = mock_handle_get(event->stream, MOCK_STREAM);
    if (event->stream == NULL) {
        status = wait_other_process(handle, record, deadline);
    } else if (stream != NULL) {
        status = mock_stream_wait(stream, event->position, deadline);
    }
    if (status == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) {
        return mock_fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT,
                         "the event was not reached within the timeout");
    }
    return status != ACL_SUCCESS ? status : wait_status(handle, record);
}

aclError aclrtSynchronizeEvent(aclrtEvent event)
{
    return synchronize(event, NULL);
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout)
{
    struct timespec deadline;
    const struct timespec *limit;
    const aclError status = mock_limit(timeout, ACL_ERROR_RT_PARAM_INVALID, &deadline, &limit);
    if (status != ACL_SUCCESS) {
        return status;
    }
    return synchronize(event, limit);
}

static aclError timestamp(aclrtEvent handle, uint64_t *nanoseconds)
{
    aclError status;
    const struct event *event = mock_event_find(handle, &status);
    status = event == NULL ? status : mock_capture_check_event_query(event, handle);
    if (status != ACL_SUCCESS) {
        return status;
    }
    if (event->constructor == WITH_FLAG && (event->flags & ACL_EVENT_TIME_LINE) == 0) {
        mock_event_report(MOCK_EVENT_MADE_FOR_SOMETHING_ELSE, handle,
                          "it was made with flags that leave ACL_EVENT_TIME_LINE out");
    }
    if (!is_recorded(event)) {
        mock_event_report(MOCK_EVENT_ORDER, handle, "no stream has recorded it");
        return mock_fail(ACL_ERROR_RT_INTERNAL_ERROR, "the event was never recorded");
    }
    if (!is_complete(event)) {
        mock_event_report(MOCK_EVENT_ORDER, handle, "its stream has not come to it yet");
        return mock_fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID,
                         "the event was not reached yet; synchronize with it first");
    }
    *nanoseconds = event->nanoseconds;
    return ACL_SUCCESS;
}

aclError aclrtEventElapsedTime(float *milliseconds, aclrtEvent start, aclrtEvent end)
{
    uint64_t from = 0, to = 0;
    aclError status = timestamp(start, &from);
    status = status != ACL_SUCCESS ? status : timestamp(end, &to);
    if (status != ACL_SUCCESS) {
        return status;
    }
    if (to < from) {
        mock_event_report(MOCK_EVENT_ORDER, end, "it was reached before the start event");
        return mock_fail(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL,
                         "the end event was reached before the start event");
    }
    *milliseconds = (float)((double)(to - from) / 1e6);
    return ACL_SUCCESS;
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *microseconds)
{
    const aclError status = timestamp(event, microseconds);
    *microseconds = status == ACL_SUCCESS ? *microseconds / 1000 : 0;
    return status;
}
