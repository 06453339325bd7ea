/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for streams. */
#include "stream_wait.h"

#include "error_message.h"
#include "lock.h"
#include "mode.h"
#include "scheduler.h"
#include "wire.h"

bool mock_stream_wait(struct stream *stream, uint64_t position, const struct timespec *deadline)
{
    void *handle = stream->handle;
    while (mock_stream_run(stream, position) != MOCK_ARRIVED) {
        if (!mock_wait_progress(deadline)) {
            return false;
        }
        if (mock_handle_get(handle, MOCK_STREAM) != stream) {
            break; /* destroyed by another thread meanwhile: nothing left to wait for */
        }
    }
    return true;
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

static bool is_working(const struct context *context)
{
    bool working = false;
    for (struct stream *stream = context == NULL ? NULL : context->streams; stream != NULL;
         stream = stream->next) {
        working = mock_stream_run(stream, stream->submitted) == MOCK_WORKING || working;
    }
    return working;
}

void mock_context_drain(void *handle)
{
    while (is_working(mock_handle_get(handle, MOCK_CONTEXT))) {
        mock_wait_progress(NULL);
    }
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

void mock_device_drain(const struct device *device)
{
    for (struct stream *stream; (stream = find_pending(device)) != NULL;) {
        mock_stream_wait(stream, stream->submitted, NULL);
    }
}
