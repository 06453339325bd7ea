/* SPDX-License-Identifier: Apache-2.0 */
/* Streams: creation, look-up, and their queues. */
#include "stream.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "callback.h"
#include "error_message.h"
#include "event.h"
#include "fault.h"
#include "graph.h"
#include "lock.h"
#include "notify.h"
#include "violation.h"
#include "wire.h"

static int32_t next_id;
static struct stream *oldest;

struct stream *mock_stream_first(void)
{
    return oldest;
}

size_t mock_stream_count(void)
{
    size_t count = 0;
    for (const struct stream *stream = oldest; stream != NULL; stream = stream->next_created) {
        count++;
    }
    return count;
}

struct stream *mock_stream_find_task(bool (*is)(const struct task *task, const void *what),
                                const void *what, const struct stream *but, uint64_t *position)
{
    for (struct stream *stream = oldest; stream != NULL; stream = stream->next_created) {
        const struct task *task = stream == but ? NULL : stream->first;
        while (task != NULL && !is(task, what)) {
            task = task->next;
        }
        if (task != NULL) {
            *position = task->position;
            return stream;
        }
    }
    return NULL;
}

bool mock_stream_any_given_up(void)
{
    const struct stream *stream = oldest;
    while (stream != NULL && !(stream->given_up && mock_stream_pending(stream))) {
        stream = stream->next_created;
    }
    return stream != NULL;
}

static struct stream **place_of(const struct stream *stream)
{
    struct stream **link = &oldest;
    while (*link != stream) {
        link = &(*link)->next_created;
    }
    return link;
}

struct stream *mock_stream_new(struct context *context)
{
    struct stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL) {
        return NULL;
    }
    stream->context = context;
    stream->id = next_id++;
    stream->handle = mock_handle_new(MOCK_STREAM, stream);
    if (stream->handle == NULL) {
        free(stream);
        return NULL;
    }
    stream->next = context->streams;
    context->streams = stream;
    *place_of(NULL) = stream;
    context->device->streams++;
    return stream;
}

void mock_stream_delete(struct stream *stream)
{
    struct stream **link = &stream->context->streams;
    while (*link != stream) {
        link = &(*link)->next;
    }
    *link = stream->next;
    *place_of(stream) = stream->next_created;
    stream->context->device->streams--;
    mock_unsubscribe(stream->handle);
    mock_stream_drop(stream);
    mock_handle_close(stream->handle, MOCK_STREAM);
    free(stream);
    mock_signal_progress();
}

void mock_stream_report_foreign(const struct stream *stream, const struct context *context)
{
    const int own = stream->context->device->id, current = context->device->id;
    if (own != current) {
        mock_violate_object(MOCK_STREAM_OF_ANOTHER_DEVICE, MOCK_STREAM, stream->handle,
                            "the stream is one of device %d; the thread's current device is %d",
                            own, current);
    } else {
        mock_violate_object(MOCK_STREAM_OF_ANOTHER_CONTEXT, MOCK_STREAM, stream->handle,
                            "the stream stands in context %p; the thread's current one is %p",
                            stream->context->handle, context->handle);
    }
}

struct stream *mock_stream_find(aclrtStream handle, bool same_context, aclError *status)
{
    struct context *context = mock_usable_context(status);
    if (context == NULL) {
        return NULL;
    }
    if (handle == NULL) {
        return context->default_stream;
    }
    struct stream *stream = mock_handle_get(handle, MOCK_STREAM);
    if (stream == NULL) {
        mock_violate_handle(handle, MOCK_STREAM, false);
        *status = mock_fail(ACL_ERROR_RT_INVALID_HANDLE,
                            "%p is no live stream: it was destroyed, or never was one", handle);
        return NULL;
    }
    if (same_context && stream->context != context) {
        mock_stream_report_foreign(stream, context);
        *status = mock_fail(ACL_ERROR_RT_STREAM_CONTEXT,
                            "stream %d belongs to another context than the thread's current one",
                            stream->id);
        return NULL;
    }
    return stream;
}

void mock_stream_set_awaited(aclrtStream handle, uint64_t position)
{
    struct stream *stream = mock_handle_get(handle, MOCK_STREAM);
    if (stream != NULL && stream->awaited < position) {
        stream->awaited = position;
        mock_signal_progress();
    }
}

int mock_stream_device(aclrtStream handle)
{
    const struct stream *stream = mock_handle_get(handle, MOCK_STREAM);
    const struct context *context = stream == NULL ? mock_current_context() : stream->context;
    return context == NULL || (handle != NULL && stream == NULL) ? -1 : context->device->id;
}

/* ---- the queue --------------------------------------------------------------------------- */

struct task *mock_stream_task(enum task_kind kind)
{
    struct task *task = calloc(1, sizeof *task);
    if (task == NULL) {
        mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for another task");
        return NULL;
    }
    struct mock_frame *frame = mock_frame_current();
    task->kind = kind;
    task->origin = mock_origin_current();
    if (frame != NULL && frame->effect >= MOCK_FAILS_LATER) {
        task->effect = frame->effect;
        task->effect_code = frame->code;
        task->effect_generation = frame->generation;
        frame->effect = MOCK_NO_EFFECT;
        if (task->effect != MOCK_IS_WRONG || kind == TASK_KERNEL || kind == TASK_HOST) {
            mock_fault_count_effect(frame);
        }
    }
    return task;
}

static _Thread_local uint64_t last_position;

uint64_t mock_stream_last_position(void)
{
    return last_position;
}

void mock_stream_append(struct stream *stream, struct task *task)
{
    if (stream->lane != NULL) {
        mock_graph_add(stream->lane, task);
        return;
    }
    task->position = last_position = ++stream->submitted;
    if (stream->last == NULL) {
        stream->first = task;
    } else {
        stream->last->next = task;
    }
    stream->last = task;
    mock_signal_progress();
}

struct task *mock_stream_submit(struct stream *stream, enum task_kind kind, aclError *status)
{
    if (stream->lane != NULL && stream->lane->graph->broken != ACL_SUCCESS) {
        *status = mock_fail(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED,
                            "the capture of stream %d broke off; end it", stream->id);
        return NULL;
    }
    struct task *task = mock_stream_task(kind);
    if (task == NULL) {
        *status = ACL_ERROR_RT_MEMORY_ALLOCATION;
        return NULL;
    }
    mock_stream_append(stream, task);
    return task;
}

void mock_stream_pop(struct stream *stream)
{
    struct task *task = stream->first;
    if (task->kind == TASK_KERNEL && task->as.kernel.sent > 0) {
        mock_wire_abandon(stream->context->device, MOCK_RUN); /* unless its answer was taken */
    }
    stream->executed = task->position;
    stream->first = task->next;
    if (stream->first == NULL) {
        stream->last = NULL;
    }
    mock_task_free(task);
    mock_signal_progress();
}

bool mock_stream_drop(struct stream *stream)
{
    const bool any = stream->first != NULL;
    while (stream->first != NULL) {
        if (stream->first->kind == TASK_WAIT || stream->first->kind == TASK_RECORD) {
            mock_event_release(stream->first);
        } else if (stream->first->kind == TASK_NOTIFY_WAIT) {
            mock_notify_release(stream->first);
        }
        mock_stream_pop(stream);
    }
    return any;
}

bool mock_stream_pending(const struct stream *stream)
{
    return stream->first != NULL;
}

void mock_stream_fail(struct stream *stream, aclError code, const char *format, ...)
{
    struct stream *replaying = mock_handle_get(stream->reports_to, MOCK_STREAM);
    va_list arguments;
    stream = replaying == NULL ? stream : replaying;
    va_start(arguments, format);
    vsnprintf(stream->error_text, sizeof stream->error_text, format, arguments);
    va_end(arguments);
    stream->error = code;
    mock_context_keep_failure(stream->context, stream->error_text);
    /* An operator that the simulated NPU cannot compute stops nothing: CANN would have computed it. */
    if (stream->stop_on_failure && code != MOCK_NOT_IMPLEMENTED) {
        stream->context->stopped = code;
    }
}

aclError mock_stream_take_error(struct stream *stream)
{
    const aclError code = stream->error;
    if (code == ACL_SUCCESS && stream->context->device->lost) {
        return mock_device_alive(stream->context->device);
    }
    if (code == ACL_SUCCESS && stream->context->stopped != ACL_SUCCESS) {
        return mock_context_fail(stream->context, stream->context->stopped, NULL);
    }
    stream->error = ACL_SUCCESS;
    return code == ACL_SUCCESS ? ACL_SUCCESS
                               : mock_context_fail(stream->context, code, stream->error_text);
}
