/* SPDX-License-Identifier: Apache-2.0 */
/* Running what streams have queued. A stream that waits for another runs that one first: the only
 * recursion among the functions of this library, all of it in this file. */
#include "scheduler.h"

#include "callback.h"
#include "event.h"
#include "exception.h"
#include "fault.h"
#include "kernel.h"
#include "lock.h"
#include "mode.h"
#include "transfer.h"

/* Resolves a wait for an event that was not recorded when the wait was queued. */
static bool resolve(struct task *task)
{
    const struct event *event = mock_handle_get(task->as.event.event, MOCK_EVENT);
    if (event == NULL || event->records == task->as.event.records) {
        return event == NULL; /* a destroyed event holds nobody up */
    }
    task->as.event.source = event->stream;
    task->as.event.position = event->position;
    return true;
}

static bool run_to(struct stream *stream, uint64_t position);

/* true when the recorded position has passed, as far as this stream can bring that about. */
static bool run_wait(struct task *task)
{
    if (task->as.event.source == NULL && !resolve(task)) {
        return false;
    }
    struct stream *source = mock_handle_get(task->as.event.source, MOCK_STREAM);
    if (source != NULL && mock_is_shuffled()) {
        return source->executed >= task->as.event.position; /* the scheduler runs it */
    }
    /* A destroyed stream has finished its work or dropped it. */
    return source == NULL || run_to(source, task->as.event.position);
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
    mock_exception_note((uint32_t)stream->id, (uint32_t)stream->context->device->id, task->position, task->effect_code);
    return true;
}

/* Posts a callback to its thread; true when the stream may go on. */
static bool post_callback(const struct stream *stream, struct task *task)
{
    if (!task->as.callback.posted) {
        const struct subscription *subscription = mock_subscription_of(stream->handle);
        const struct post post = {.thread = subscription == NULL ? 0 : subscription->thread,
                                  .stream = stream->handle,
                                  .position = task->position,
                                  .block = task->as.callback.block,
                                  .function = task->as.callback.function,
                                  .data = task->as.callback.data};
        if (!mock_post_add(&post)) {
            return false; /* tried again when the stream runs next */
        }
        task->as.callback.posted = true;
        mock_progress();
    }
    return !task->as.callback.block || task->as.callback.done;
}

static bool run_task(struct stream *stream, struct task *task)
{
    if (task->effect == MOCK_HANGS || task->effect == MOCK_FAILS_LATER) {
        return run_fault(stream, task);
    }
    switch (task->kind) {
    case TASK_KERNEL:
        mock_kernel_run(stream, task);
        return true;
    case TASK_COPY:
        mock_copy_run(stream, task);
        return true;
    case TASK_FILL:
        mock_fill_run(stream, task);
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
        return post_callback(stream, task);
    }
    return true;
}

/* After a failure that stops the context, and without its device, nothing runs any more. */
static bool is_dead(const struct stream *stream)
{
    return stream->context->stopped != ACL_SUCCESS || stream->context->device->lost;
}

/* Runs the first task of a stream that has one. false: it is blocked. */
static bool step(struct stream *stream)
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
        mock_stream_pop(stream);
    }
    return going;
}

static bool run_to(struct stream *stream, uint64_t position)
{
    bool going = true;
    while (going && stream->first != NULL && stream->first->position <= position) {
        going = step(stream);
    }
    return going;
}

/* ---- a random order ---------------------------------------------------------------------- */

/* The index-th stream that has work and is not known to be blocked, or NULL. */
static struct stream *runnable(size_t index)
{
    struct stream *stream = mock_stream_oldest();
    while (stream != NULL && (stream->stuck || !mock_stream_pending(stream) || index-- > 0)) {
        stream = stream->younger;
    }
    return stream;
}

static size_t count_runnable(void)
{
    size_t count = 0;
    while (runnable(count) != NULL) {
        count++;
    }
    return count;
}

static void forget_stuck(void)
{
    for (struct stream *stream = mock_stream_oldest(); stream != NULL; stream = stream->younger) {
        stream->stuck = false;
    }
}

/* Runs tasks of any streams until one has come to a position. false: blocked. */
static bool shuffle_to(struct stream *stream, uint64_t position)
{
    forget_stuck();
    while (stream->executed < position) {
        const size_t count = count_runnable();
        if (count == 0) {
            return false;
        }
        struct stream *chosen = runnable((size_t)(mock_mode_random() % count));
        if (step(chosen)) {
            forget_stuck(); /* it may have been what others wait for */
        } else {
            chosen->stuck = true;
        }
    }
    return true;
}

/* ---- running ----------------------------------------------------------------------------- */

bool mock_stream_run(struct stream *stream, uint64_t position)
{
    const bool shuffled = stream->executed < position && mock_is_shuffled();
    return shuffled ? shuffle_to(stream, position) : run_to(stream, position);
}

void mock_run_eagerly(void)
{
    bool moved = mock_is_eager();
    while (moved) {
        moved = false;
        for (struct stream *stream = mock_stream_oldest(); stream != NULL;
             stream = stream->younger) {
            while (mock_stream_pending(stream) && step(stream)) {
                moved = true;
            }
        }
    }
}
