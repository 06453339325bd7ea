/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for streams. */
#include "stream_wait.h"

#include "callback.h"
#include "error_message.h"
#include "lock.h"
#include "mode.h"
#include "scheduler.h"
#include "violation.h"
#include "wire.h"

/* Return whether a stream waits, itself or through events, for the function that this thread runs.
 * Streams that wait in a circle do not. */
static bool waits_for_caller(const struct stream *stream, uint64_t position)
{
    const void *own = mock_post_running();
    for (size_t left = mock_stream_count(); own != NULL && stream != NULL && left > 0; left--) {
        const struct task *task = stream->first;
        if (task == NULL || task->position > position) {
            return false;
        }
        if (stream->handle == own) {
            return true;
        }
        if (task->kind != TASK_WAIT) {
            return false;
        }
        position = task->as.event.position;
        stream = mock_handle_get(task->as.event.source, MOCK_STREAM);
    }
    return false;
}

static aclError refuse_caller(const struct stream *stream)
{
    mock_violate_object(MOCK_OWN_STREAM_AWAITED, MOCK_STREAM, stream->handle,
                        "stream %d waits for the host function that waits for it", stream->id);
    return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                     "a host function waits for stream %d, which waits for that function to return",
                     stream->id);
}

aclError mock_stream_wait(struct stream *stream, uint64_t position,
                          const struct timespec *deadline)
{
    void *handle = stream->handle;
    const int id = stream->id;
    while (mock_stream_run(stream, position) != MOCK_ARRIVED) {
        if (waits_for_caller(stream, position)) {
            return refuse_caller(stream);
        }
        stream->given_up = true; /* unless the wait goes on */
        if (!mock_wait_progress(deadline)) {
            return mock_fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                             deadline == NULL ? "a signal ended the wait for stream %d"
                                              : "stream %d did not finish within the timeout",
                             id);
        }
        if (mock_handle_get(handle, MOCK_STREAM) != stream) {
            return ACL_SUCCESS; /* destroyed by another thread: nothing left to wait for */
        }
    }
    stream->given_up = false;
    return ACL_SUCCESS;
}

/* Seconds that a query waits at most. */
enum { PATIENCE_MILLISECONDS = 1000 };

void mock_stream_advance(struct stream *stream, uint64_t position)
{
    const struct timespec deadline = mock_deadline(PATIENCE_MILLISECONDS);
    void *handle = stream->handle;
    while (mock_handle_get(handle, MOCK_STREAM) == stream &&
           mock_stream_run(stream, position) == MOCK_WORKING && mock_wait_progress(&deadline)) {
    }
}

void mock_stream_flush(const void *handle, uint64_t position)
{
    struct stream *stream = mock_handle_get(handle, MOCK_STREAM);
    if (stream != NULL) {
        stream->awaited = position > stream->awaited ? position : stream->awaited;
        mock_stream_advance(stream, position);
    }
}

void mock_advance_eagerly(void)
{
    if (!mock_is_eager()) {
        return;
    }
    const struct timespec deadline = mock_deadline(PATIENCE_MILLISECONDS);
    while (mock_run_eagerly() == MOCK_WORKING && mock_wait_progress(&deadline)) {
    }
}

bool mock_run_awaited_until(const struct timespec *deadline)
{
    mock_run_awaited();
    mock_run_eagerly();
    return mock_wait_progress(deadline);
}

void mock_run_awaited_or_wait(void)
{
    mock_run_awaited_until(NULL);
}

aclError mock_stream_finish(struct stream *stream, const struct timespec *deadline)
{
    void *handle = stream->handle;
    const aclError status = mock_stream_wait(stream, stream->submitted, deadline);
    if (status != ACL_SUCCESS) {
        return status;
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

aclError mock_context_wait(void *handle, const struct timespec *deadline)
{
    aclError status = ACL_SUCCESS;
    struct stream *stream;
    while (status == ACL_SUCCESS &&
           (stream = first_pending(mock_handle_get(handle, MOCK_CONTEXT))) != NULL) {
        status = mock_stream_wait(stream, stream->submitted, deadline);
    }
    return status;
}

static bool is_working(const struct context *context)
{
    bool working = false;
    for (struct stream *stream = context == NULL ? NULL : context->streams; stream != NULL;
         stream = stream->next) {
        working = mock_stream_run(stream, stream->submitted) == MOCK_WORKING || working;
    }
    return working;
}

aclError mock_context_drain(void *handle)
{
    while (is_working(mock_handle_get(handle, MOCK_CONTEXT))) {
        if (!mock_wait_progress(NULL)) {
            return mock_fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT,
                             "a signal ended the wait for a kernel");
        }
    }
    return ACL_SUCCESS;
}

/* The first stream of a device, or of any, that has still to work. */
static struct stream *find_pending(const struct device *device)
{
    struct stream *stream = mock_stream_first();
    while (stream != NULL && ((device != NULL && stream->context->device != device) ||
                              !mock_stream_pending(stream))) {
        stream = stream->next_created;
    }
    return stream;
}

aclError mock_device_drain(const struct device *device)
{
    aclError status = ACL_SUCCESS;
    struct stream *stream;
    while (status == ACL_SUCCESS && (stream = find_pending(device)) != NULL) {
        status = mock_stream_wait(stream, stream->submitted, NULL);
    }
    return status;
}
