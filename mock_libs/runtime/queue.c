/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of a stream. Work runs only when it must: nothing here has a thread of its own. */
#include "state.h"

#include "fault.h"

#include <stdarg.h>
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
    struct mock_frame *frame = mock_gate_current();
    task->kind = kind;
    task->origin = mock_origin_now();
    if (frame != NULL && frame->effect >= MOCK_FAILS_LATER) {
        task->effect = frame->effect;
        task->effect_code = frame->code;
        task->effect_generation = mock_fault_generation();
        frame->effect = MOCK_NO_EFFECT;
    }
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
        free(task->as.kernel.ranges);
        free(task->as.kernel.refused);
    }
    free(task);
    mock_progress();
}

bool mock_stream_drop(struct stream *stream)
{
    const bool any = stream->first != NULL;
    while (stream->first != NULL) {
        if (stream->first->kind == TASK_WAIT) {
            mock_event_waited(stream->first->as.event.event);
        }
        pop(stream);
    }
    return any;
}

bool mock_stream_pending(const struct stream *stream)
{
    return stream->first != NULL;
}

void mock_stream_fail(struct stream *stream, aclError code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(stream->error_text, sizeof stream->error_text, format, arguments);
    va_end(arguments);
    stream->error = code;
    if (stream->stop_on_failure) {
        stream->context->stopped = code;
    }
}

/* How long a kernel may take, in milliseconds; 0: for ever. The simulated cores cannot be stopped:
 * a kernel that took longer ends, and is then reported as CANN reports the one it stops. */
static uint64_t kernel_limit;

static uint64_t milliseconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

static aclError limit_kernels(uint64_t milliseconds)
{
    kernel_limit = milliseconds;
    return ACL_SUCCESS;
}

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout)
{
    MOCK_GUARDED(limit_kernels((uint64_t)timeout * 1000u));
}

aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout)
{
    MOCK_GUARDED(limit_kernels(timeout));
}

static void kernel_failed(struct stream *stream, const struct task *task, aclError code,
                          const char *text, uint32_t length)
{
    mock_stream_fail(stream, code, "%.*s", (int)length, text);
    mock_exception_note(stream, task->position, code);
}

static void run_kernel(struct stream *stream, const struct task *task)
{
    if (task->as.kernel.refused != NULL) {
        kernel_failed(stream, task, ACL_ERROR_RT_AICORE_EXCEPTION, task->as.kernel.refused,
                      (uint32_t)strlen(task->as.kernel.refused));
        return;
    }
    const uint8_t *answer;
    size_t length;
    const uint64_t start = milliseconds_now();
    if (!mock_device_request(stream->context->device, MOCK_RUN, task->as.kernel.message,
                             task->as.kernel.length, &answer, &length)) {
        mock_stream_fail(stream, ACL_ERROR_RT_LOST_HEARTBEAT,
                         "device %d was lost while stream %d was working",
                         stream->context->device->id, stream->id);
        return;
    }
    struct mock_reader reader = {answer, length, 0, true};
    const aclError status = (aclError)mock_read_u32(&reader);
    uint32_t text_length;
    const char *text = mock_read_string(&reader, &text_length);
    if (!reader.ok) {
        static const char cut[] = "the device's answer is cut off";
        kernel_failed(stream, task, ACL_ERROR_RT_INTERNAL_ERROR, cut, sizeof cut - 1);
    } else if (status != ACL_SUCCESS) {
        kernel_failed(stream, task, status, text, text_length);
    } else if (kernel_limit > 0 && milliseconds_now() - start > kernel_limit) {
        static const char late[] = "the kernel took longer than aclrtSetOpExecuteTimeOut allows";
        kernel_failed(stream, task, ACL_ERROR_RT_AICORE_TIMEOUT, late, sizeof late - 1);
    }
}

/* Memory may have gone since the task was queued. Where the device reaches it now, or NULL. */
static void *still_there(const void *address, bool on_device, uint64_t bytes)
{
    if ((mock_device_of(address) != NULL) != on_device) {
        return NULL;
    }
    return on_device || mock_host_is_pinned(address, bytes) ? mock_alias(address) : NULL;
}

static void run_copy(struct stream *stream, const struct task *task)
{
    const uint64_t width = task->as.copy.width, height = task->as.copy.height;
    uint8_t *destination =
        still_there(task->as.copy.destination, task->as.copy.to_device,
                    mock_span(width, height, task->as.copy.destination_pitch));
    const uint8_t *source = still_there(task->as.copy.source, task->as.copy.from_device,
                                        mock_span(width, height, task->as.copy.source_pitch));
    if (destination == NULL || source == NULL) {
        mock_stream_fail(stream, ACL_ERROR_RT_SYS_DMA,
                         "the %s of a queued copy was freed before the copy ran",
                         destination == NULL ? "destination" : "source");
        return;
    }
    mock_hazard_copy(task);
    for (uint64_t row = 0; row < height; row++) {
        memmove(destination, source, width);
        destination += task->as.copy.destination_pitch;
        source += task->as.copy.source_pitch;
    }
    mock_hazard_host_written(task->as.copy.destination,
                             mock_span(width, height, task->as.copy.destination_pitch));
}

static void run_fill(struct stream *stream, const struct task *task)
{
    void *destination = still_there(task->as.fill.destination, task->as.fill.on_device,
                                    task->as.fill.bytes);
    if (destination == NULL) {
        mock_stream_fail(stream, ACL_ERROR_RT_SYS_DMA,
                         "the memory of a queued fill was freed before the fill ran");
        return;
    }
    memset(destination, task->as.fill.value, task->as.fill.bytes);
    mock_hazard_host_written(task->as.fill.destination, task->as.fill.bytes);
}

/* true when the recorded position has passed, as far as this stream can bring that about. */
static bool run_wait(struct task *task)
{
    if (task->as.event.source == NULL && !mock_event_resolve(task)) {
        return false;
    }
    struct stream *source = mock_handle_get(task->as.event.source, MOCK_STREAM);
    if (source != NULL && mock_is_shuffled()) {
        return source->executed >= task->as.event.position; /* the scheduler runs it */
    }
    /* A destroyed stream has finished its work or dropped it. */
    return source == NULL || mock_stream_run(source, task->as.event.position);
}

/* An injected failure takes the place of the work. */
static bool run_fault(struct stream *stream, const struct task *task)
{
    if (task->effect == MOCK_HANGS) {
        /* Faults that were taken away let the stream go on, for the sake of whoever cleans up. */
        return task->effect_generation != mock_fault_generation();
    }
    mock_stream_fail(stream, task->effect_code, "a fault was injected into %s; it failed when it ran",
                     task->origin.function);
    mock_exception_note(stream, task->position, task->effect_code);
    return true;
}

static bool run_task(struct stream *stream, struct task *task)
{
    if (task->effect == MOCK_HANGS || task->effect == MOCK_FAILS_LATER) {
        return run_fault(stream, task);
    }
    switch (task->kind) {
    case TASK_KERNEL:
        run_kernel(stream, task);
        return true;
    case TASK_COPY:
        run_copy(stream, task);
        return true;
    case TASK_FILL:
        run_fill(stream, task);
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
        mock_event_reset(task->as.event.event, task->as.event.records);
        return true;
    case TASK_CALLBACK:
        return mock_callback_post(stream, task);
    }
    return true;
}

/* After a failure that stops the context, and without its device, nothing runs any more. */
static bool is_dead(const struct stream *stream)
{
    return stream->context->stopped != ACL_SUCCESS || stream->context->device->lost;
}

bool mock_stream_step(struct stream *stream)
{
    struct task *task = stream->first;
    const bool dead = is_dead(stream);
    if (stream->running) {
        return false; /* streams that wait for each other in a circle */
    }
    if (dead && task->kind == TASK_WAIT) {
        mock_event_waited(task->as.event.event);
    }
    stream->running = true;
    const bool going = dead || run_task(stream, task);
    stream->running = false;
    if (going) {
        pop(stream);
    }
    return going;
}

bool mock_stream_run(struct stream *stream, uint64_t position)
{
    if (stream->executed < position && mock_is_shuffled()) {
        return mock_shuffle_until(stream, position);
    }
    bool going = true;
    while (going && stream->first != NULL && stream->first->position <= position) {
        going = mock_stream_step(stream);
    }
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
        mock_device_alive(stream->context->device);
    }
    return true;
}

aclError mock_stream_take_error(struct stream *stream)
{
    const aclError code = stream->error;
    if (code == ACL_SUCCESS && stream->context->device->lost) {
        return mock_device_alive(stream->context->device);
    }
    if (code == ACL_SUCCESS && stream->context->stopped != ACL_SUCCESS) {
        return mock_fail(stream->context->stopped, "stream %d stands in a stopped context",
                         stream->id);
    }
    stream->error = ACL_SUCCESS;
    return code == ACL_SUCCESS ? ACL_SUCCESS : mock_fail(code, "%s", stream->error_text);
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

/* Where the flags of the call stand in a message: behind workspace and the operator's name. */
static void ask_for_wrong_numbers(uint8_t *message)
{
    enum { PREFIX = 16, WRONG_NUMBERS = 8 };
    uint32_t name, flags;
    memcpy(&name, message + PREFIX, sizeof name);
    uint8_t *place = message + PREFIX + sizeof name + name;
    memcpy(&flags, place, sizeof flags);
    flags |= WRONG_NUMBERS;
    memcpy(place, &flags, sizeof flags);
}

aclError mock_stream_launch(aclrtStream handle, const struct mock_launch *launch)
{
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    struct task *task = stream == NULL ? NULL : mock_stream_submit(stream, TASK_KERNEL);
    if (task == NULL) {
        free(launch->message);
        free(launch->ranges);
        free(launch->refused);
        return stream == NULL ? status : ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    task->as.kernel = *launch;
    if (task->effect == MOCK_IS_WRONG) {
        ask_for_wrong_numbers(task->as.kernel.message);
    }
    mock_hazard_queued(stream, task);
    return ACL_SUCCESS;
}
