/* SPDX-License-Identifier: Apache-2.0 */
/* Creation, recording, waiting and reset of events in streams. */
#include "event.h"

#include <stdio.h>
#include <stdlib.h>

#include "capture.h"
#include "error_message.h"
#include "lock.h"
#include "release.h"
#include "stream.h"
#include "stream_wait.h"

static const char NEVER[] = "no stream has recorded it: the wait orders nothing";

static aclError create(aclrtEvent *handle, enum constructor constructor, uint32_t flags)
{
    const bool newer = mock_release_current()->headers >= 901;
    const uint32_t known = ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS |
                           ACL_EVENT_TIME_LINE | ACL_EVENT_EXTERNAL |
                           (newer ? ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_IPC : 0);
    aclError status;
    if (mock_usable_context(&status) == NULL) {
        return status;
    }
    if (constructor != PLAIN && (flags == 0 || (flags & ~known) != 0)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "event flag 0x%x; it must be a combination of 0x%x", flags, known);
    }
    mock_event_new(handle, constructor, flags, &status);
    return status;
}

aclError aclrtCreateEvent(aclrtEvent *event)
{
    return create(event, PLAIN, 0);
}

aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag)
{
    return create(event, WITH_FLAG, flag);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag)
{
    return create(event, EX_WITH_FLAG, flag);
}

aclError aclrtDestroyEvent(aclrtEvent handle)
{
    aclError status;
    struct event *live = mock_event_find(handle, &status);
    struct event *event = mock_handle_close(handle, MOCK_EVENT);
    if (live != NULL) {
        live->context->events--;
        live->context->device->events--;
        mock_signal_progress();
    }
    if (event != NULL) {
        mock_event_destroy(event);
    }
    return status;
}

static aclError record(aclrtEvent handle, aclrtStream stream_handle, bool external)
{
    aclError status;
    struct event *event = mock_event_find(handle, &status);
    struct stream *stream = event == NULL ? NULL : mock_stream_find(stream_handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    if (stream->lane != NULL && event->number != 0) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "an event that other processes share is not recorded in a capture");
    }
    struct task *task = mock_stream_submit(stream, TASK_RECORD, &status);
    if (task == NULL) {
        return status;
    }
    if (stream->lane != NULL && (external || mock_event_is_external(event))) {
        task->as.event.event = handle; /* recorded by each replay */
        return ACL_SUCCESS;
    }
    if (stream->lane != NULL) { /* only waits in the graph depend on it */
        event->stream = stream->handle;
        event->position = task->position;
        event->captured = stream->lane->graph->handle;
        event->reset_requested = event->reset = event->records;
        return ACL_SUCCESS;
    }
    mock_event_queue_record(event, handle, stream->handle, task);
    if (event->number != 0) {
        mock_stream_flush(stream->handle, event->position);
    }
    return ACL_SUCCESS;
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream)
{
    return record(event, stream, false);
}

static aclError check_flag(uint32_t flag)
{
    return flag <= ACL_EVENT_RECORD_EXTERNAL
               ? ACL_SUCCESS
               : mock_fail(ACL_ERROR_INVALID_PARAM, "flag is %u; it must be 0 or 1", flag);
}

aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag)
{
    const aclError status = check_flag(flag);
    return status != ACL_SUCCESS ? status
                                 : record(event, stream, flag == ACL_EVENT_RECORD_EXTERNAL);
}

/* Only the older constructor with flags insists on them (CANN: aclrtCreateEventWithFlag). */
static void report_unfit(aclrtEvent handle, const struct event *event, uint32_t flag,
                         const char *name)
{
    char text[96];
    if (event->constructor == WITH_FLAG && (event->flags & (flag | ACL_EVENT_EXTERNAL)) == 0) {
        snprintf(text, sizeof text, "it was made with flags 0x%x, without %s", event->flags, name);
        mock_event_report(MOCK_EVENT_MADE_FOR_SOMETHING_ELSE, handle, text);
    }
}

aclError aclrtResetEvent(aclrtEvent handle, aclrtStream stream_handle)
{
    aclError status;
    struct event *event = mock_event_find(handle, &status);
    struct stream *stream = event == NULL ? NULL : mock_stream_find(stream_handle, true, &status);
    if (stream != NULL && event->number != 0) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "an event that other processes share is not reset; record it again");
    }
    struct task *task = stream == NULL ? NULL : mock_stream_submit(stream, TASK_RESET, &status);
    if (task != NULL) {
        report_unfit(handle, event, ACL_EVENT_SYNC, "ACL_EVENT_SYNC");
    }
    if (task != NULL && stream->lane != NULL && mock_event_is_external(event)) {
        task->as.event.event = handle; /* reset by each replay */
    } else if (task != NULL) {
        event->captured = NULL;
    }
    if (task != NULL && stream->lane == NULL) {
        mock_event_queue_reset(event, handle, task);
    }
    return status;
}

static aclError wait_unrecorded(aclrtEvent handle, const struct event *event)
{
    const uint32_t waits = ACL_EVENT_SYNC | ACL_EVENT_EXTERNAL;
    if (event->constructor == WITH_FLAG && (event->flags & waits) != 0) {
        return ACL_SUCCESS; /* a real wait, for a later record */
    }
    mock_event_report(MOCK_EVENT_UNRECORDED, handle, NEVER);
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                     "a stream may not wait for this event before aclrtRecordEvent");
}

static aclError stream_wait(aclrtStream stream_handle, aclrtEvent handle, bool external)
{
    aclError status;
    struct event *event = mock_event_find(handle, &status);
    struct stream *stream = event == NULL ? NULL : mock_stream_find(stream_handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    if (stream->lane != NULL && (external || mock_event_is_external(event))) {
        struct task *task = mock_stream_submit(stream, TASK_WAIT, &status);
        if (task != NULL) {
            task->as.event.event = handle; /* each replay waits for the latest record */
        }
        return status;
    }
    report_unfit(handle, event, ACL_EVENT_SYNC, "ACL_EVENT_SYNC");
    const bool recorded = event->captured != NULL || mock_event_is_recorded(event);
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
    status = mock_capture_wait(stream, event);
    if (status != ACL_SUCCESS) {
        return status;
    }
    struct task *task = mock_stream_submit(stream, TASK_WAIT, &status);
    if (task == NULL) {
        return status;
    }
    if (stream->lane == NULL) {
        mock_event_queue_wait(event, handle, task);
    } else if (recorded) {
        mock_event_set_source(event, task);
    }
    return ACL_SUCCESS;
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event)
{
    return stream_wait(stream, event, false);
}

/* As with aclrtSetOpWaitTimeout no wait is too long: it ends, or is found to have no end. */
aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout)
{
    if (timeout < 0) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "timeout is %d ms; it must not be negative (aclrtStreamWaitEvent waits for ever)",
                         timeout);
    }
    return stream_wait(stream, event, false);
}

aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout,
                                      uint32_t flag)
{
    const aclError status = check_flag(flag);
    if (status == ACL_SUCCESS && flag == ACL_EVENT_WAIT_EXTERNAL && timeout != 0) {
        return mock_fail(ACL_ERROR_INVALID_PARAM,
                         "timeout is %u; with ACL_EVENT_WAIT_EXTERNAL it must be 0", timeout);
    }
    return status != ACL_SUCCESS ? status
                                 : stream_wait(stream, event, flag == ACL_EVENT_WAIT_EXTERNAL);
}
