/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of a stream. Work runs only when it must: nothing here has a thread of its own. */
#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct task *mock_stream_submit(struct stream *stream, enum task_kind kind)
{
    struct task *task = calloc(1, sizeof *task);
    if (task == NULL) {
        mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for another task");
        return NULL;
    }
    task->kind = kind;
    task->position = ++stream->submitted;
    if (stream->last == NULL) {
        stream->first = task;
    } else {
        stream->last->next = task;
    }
    stream->last = task;
    mock_progress();
    return task;
}

static void pop(struct stream *stream)
{
    struct task *task = stream->first;
    stream->executed = task->position;
    stream->first = task->next;
    if (stream->first == NULL) {
        stream->last = NULL;
    }
    if (task->kind == TASK_KERNEL) {
        free(task->as.kernel.message);
    }
    free(task);
    mock_progress();
}

void mock_stream_drop(struct stream *stream)
{
    while (stream->first != NULL) {
        if (stream->first->kind == TASK_WAIT) {
            mock_event_waited(stream->first->as.event.event);
        }
        pop(stream);
    }
}

bool mock_stream_pending(const struct stream *stream)
{
    return stream->first != NULL;
}

static void fail_stream(struct stream *stream, aclError code, const char *text, uint32_t length)
{
    const int shown = length < sizeof stream->error_text ? (int)length : 0;
    stream->error = code;
    snprintf(stream->error_text, sizeof stream->error_text, "%.*s",
             length == 0 || shown > 0 ? shown : (int)sizeof stream->error_text - 1, text);
    if (stream->stop_on_failure) {
        stream->context->stopped = code;
    }
}

static void run_kernel(struct stream *stream, const struct task *task)
{
    const uint8_t *answer;
    size_t length;
    if (!mock_device_request(stream->context->device, MOCK_RUN, task->as.kernel.message,
                             task->as.kernel.length, &answer, &length)) {
        static const char gone[] = "the device was lost while the stream was working";
        fail_stream(stream, ACL_ERROR_RT_LOST_HEARTBEAT, gone, sizeof gone - 1);
        return;
    }
    struct mock_reader reader = {answer, length, 0, true};
    const aclError status = (aclError)mock_read_u32(&reader);
    uint32_t text_length;
    const char *text = mock_read_string(&reader, &text_length);
    if (!reader.ok || status != ACL_SUCCESS) {
        const aclError code = reader.ok ? status : ACL_ERROR_RT_INTERNAL_ERROR;
        fail_stream(stream, code, text, text_length);
        mock_exception_note(stream, task->position, code);
    }
}

static void run_copy(const struct task *task)
{
    uint8_t *destination = mock_alias(task->as.copy.destination);
    const uint8_t *source = mock_alias(task->as.copy.source);
    for (uint64_t row = 0; row < task->as.copy.height; row++) {
        memmove(destination, source, task->as.copy.width);
        destination += task->as.copy.destination_pitch;
        source += task->as.copy.source_pitch;
    }
}

/* true when the recorded position has passed, as far as this stream can bring that about. */
static bool run_wait(struct task *task)
{
    if (task->as.event.source == NULL && !mock_event_resolve(task)) {
        return false;
    }
    struct stream *source = mock_handle_get(task->as.event.source, MOCK_STREAM);
    /* A destroyed stream has finished its work or dropped it. */
    return source == NULL || mock_stream_run(source, task->as.event.position);
}

static bool run_task(struct stream *stream, struct task *task)
{
    switch (task->kind) {
    case TASK_KERNEL:
        run_kernel(stream, task);
        return true;
    case TASK_COPY:
        run_copy(task);
        return true;
    case TASK_FILL:
        memset(mock_alias(task->as.fill.destination), task->as.fill.value, task->as.fill.bytes);
        return true;
    case TASK_RECORD:
        mock_event_recorded(task->as.event.event, task->as.event.records);
        return true;
    case TASK_WAIT:
        if (!run_wait(task)) {
            return false;
        }
        mock_event_waited(task->as.event.event);
        return true;
    case TASK_RESET:
        mock_event_reset(task->as.event.event);
        return true;
    case TASK_CALLBACK:
        return mock_callback_post(stream, task);
    }
    return true;
}

bool mock_stream_run(struct stream *stream, uint64_t position)
{
    if (stream->executed >= position) {
        return true;
    }
    if (stream->running) {
        return false; /* streams that wait for each other in a circle */
    }
    bool going = true;
    stream->running = true;
    while (going && stream->first != NULL && stream->first->position <= position) {
        /* After a failure that stops the context nothing of it runs any more. */
        going = stream->context->stopped != ACL_SUCCESS || run_task(stream, stream->first);
        if (going) {
            pop(stream);
        }
    }
    stream->running = false;
    return going;
}

bool mock_stream_wait(struct stream *stream, uint64_t position, const struct timespec *deadline)
{
    void *handle = stream->handle;
    while (!mock_stream_run(stream, position)) {
        if (!mock_wait_progress(deadline)) {
            return false;
        }
        if (mock_handle_get(handle, MOCK_STREAM) != stream) {
            break; /* destroyed by another thread meanwhile: nothing left to wait for */
        }
    }
    return true;
}

aclError mock_stream_take_error(struct stream *stream)
{
    const aclError code = stream->error;
    if (code == ACL_SUCCESS) {
        return stream->context->stopped;
    }
    stream->error = ACL_SUCCESS;
    return mock_fail(code, "%s", stream->error_text);
}

aclError mock_stream_finish(struct stream *stream, const struct timespec *deadline)
{
    void *handle = stream->handle;
    if (!mock_stream_wait(stream, stream->submitted, deadline)) {
        return mock_fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                         "stream %d did not finish within the timeout", stream->id);
    }
    if (mock_handle_get(handle, MOCK_STREAM) != stream) {
        return mock_fail(ACL_ERROR_RT_INVALID_HANDLE,
                         "stream %p was destroyed by another thread during the wait", handle);
    }
    return mock_stream_take_error(stream);
}

static struct stream *first_pending(const struct context *context)
{
    struct stream *stream = context == NULL ? NULL : context->streams;
    while (stream != NULL && !mock_stream_pending(stream)) {
        stream = stream->next;
    }
    return stream;
}

bool mock_context_wait(void *handle, const struct timespec *deadline)
{
    for (;;) {
        struct stream *stream = first_pending(mock_handle_get(handle, MOCK_CONTEXT));
        if (stream == NULL) {
            return true;
        }
        if (!mock_stream_wait(stream, stream->submitted, deadline)) {
            return false;
        }
    }
}

aclError mock_stream_launch(aclrtStream handle, uint8_t *message, size_t length)
{
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    struct task *task = stream == NULL ? NULL : mock_stream_submit(stream, TASK_KERNEL);
    if (task == NULL) {
        free(message);
        return stream == NULL ? status : ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    task->as.kernel.message = message;
    task->as.kernel.length = length;
    return ACL_SUCCESS;
}
