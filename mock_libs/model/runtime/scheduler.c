/* SPDX-License-Identifier: Apache-2.0 */
/* Running what streams have queued. A stream that waits for another runs that one first, and so on,
 * however many: they form a chain, so that the caller's stack stays as it is. */
#include "scheduler.h"

#include <stdlib.h>

#include "errand.h"
#include "event.h"
#include "exception.h"
#include "fault.h"
#include "kernel.h"
#include "lock.h"
#include "mode.h"
#include "notify.h"
#include "notify_wait.h"
#include "transfer.h"
#include "value.h"

/* What came of trying to run the first task of a stream. */
enum step {
    MOVED,
    WORKING, /* the device has not finished it, or is busy with another */
    BLOCKED, /* on something another thread must do */
    WAITS    /* for another stream to come to a position */
};

static enum step run_wait(struct stream *stream, struct task *task)
{
    if (task->as.event.source == NULL && !mock_event_resolved(task)) {
        return BLOCKED;
    }
    /* A destroyed stream has finished its work or dropped it. */
    struct stream *source = mock_handle_get(task->as.event.source, MOCK_STREAM);
    if (source != NULL && source->executed < task->as.event.position) {
        stream->ahead = source;
        stream->ahead_position = task->as.event.position;
        return WAITS;
    }
    mock_event_left(task);
    return MOVED;
}

/* Of a wait that is over, or that says who is ahead, if anybody is. */
static enum step step_of(const struct stream *stream, bool over)
{
    if (over) {
        return MOVED;
    }
    return stream->ahead == NULL ? BLOCKED : WAITS;
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
        const uint64_t subscriber = subscription == NULL ? 0 : subscription->thread;
        const struct post post = {.thread = task->as.callback.host
                                                ? mock_post_to(stream->context->handle)
                                                : subscriber,
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

void mock_posted_done(struct post *post)
{
    const struct stream *stream = mock_handle_get(post->stream, MOCK_STREAM);
    struct task *task = stream == NULL ? NULL : stream->first;
    if (post->block && task != NULL && task->position == post->position) {
        task->as.callback.done = true;
    }
    mock_progress();
    free(post);
}

static enum step run_task(struct stream *stream, struct task *task)
{
    if (task->effect == MOCK_HANGS || task->effect == MOCK_FAILS_LATER) {
        return run_fault(stream, task) ? MOVED : BLOCKED;
    }
    switch (task->kind) {
    case TASK_KERNEL:
        return mock_kernel_run(stream, task) ? MOVED : WORKING;
    case TASK_ERRAND:
        return mock_errand_run(stream, task) ? MOVED : BLOCKED;
    case TASK_COPY:
        mock_copy_run(stream, task);
        return MOVED;
    case TASK_FILL:
        mock_fill_run(stream, task);
        return MOVED;
    case TASK_RECORD:
        mock_event_recorded(task);
        return MOVED;
    case TASK_WAIT:
        return run_wait(stream, task);
    case TASK_RESET:
        mock_event_reset(task->as.event.event, task->as.event.records);
        return MOVED;
    case TASK_CALLBACK:
        return post_callback(stream, task) ? MOVED : BLOCKED;
    case TASK_NOTIFY_RECORD:
        mock_notify_recorded(task->as.notify.notify);
        return MOVED;
    case TASK_NOTIFY_WAIT:
        return step_of(stream, mock_notify_taken(stream, task, &stream->ahead,
                                                 &stream->ahead_position));
    case TASK_VALUE_WRITE:
        mock_value_written(stream, task);
        return MOVED;
    case TASK_VALUE_WAIT:
        return step_of(stream, mock_value_reached(stream, task, &stream->ahead,
                                                  &stream->ahead_position));
    }
    return MOVED;
}

/* After a failure that stops the context, and without its device, nothing runs any more; what the
 * device had already has an end of its own. */
static bool is_dead(const struct stream *stream)
{
    const struct task *task = stream->first;
    if (task->kind == TASK_KERNEL && task->as.kernel.sent) {
        return false;
    }
    return stream->context->stopped != ACL_SUCCESS || stream->context->device->lost;
}

/* Runs the first task of a stream that has one. */
static enum step step(struct stream *stream)
{
    struct task *task = stream->first;
    const bool dead = is_dead(stream);
    if (dead && (task->kind == TASK_WAIT || task->kind == TASK_RECORD)) {
        mock_event_left(task);
    } else if (dead && task->kind == TASK_NOTIFY_WAIT) {
        mock_notify_left(task);
    }
    const enum step came = dead ? MOVED : run_task(stream, task);
    if (came == MOVED) {
        mock_stream_pop(stream);
    }
    return came;
}

/* Puts a stream on top of a chain of streams, each of which waits for the one above it. */
static struct stream *push(struct stream *below, struct stream *stream, uint64_t goal)
{
    stream->below = below;
    stream->goal = goal;
    stream->running = true;
    return stream;
}

static struct stream *pop(struct stream *top)
{
    top->running = false;
    return top->below;
}

/* The stream that the top of a chain waits for goes on top; NULL: they wait in a circle. */
static struct stream *climb(struct stream *top)
{
    return top->ahead->running ? NULL : push(top, top->ahead, top->ahead_position);
}

static enum mock_run run_to(struct stream *stream, uint64_t position)
{
    enum step came = MOVED;
    struct stream *top = push(NULL, stream, position);
    while (top != NULL && came == MOVED) {
        if (top->first == NULL || top->first->position > top->goal) {
            top = pop(top);
            continue;
        }
        came = step(top);
        struct stream *higher = came == WAITS ? climb(top) : NULL;
        if (higher != NULL) {
            top = higher;
            came = MOVED;
        }
    }
    while (top != NULL) {
        top = pop(top);
    }
    return came == MOVED ? MOCK_ARRIVED : came == WORKING ? MOCK_WORKING : MOCK_BLOCKED;
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
    for (struct stream *stream = mock_stream_oldest(); stream != NULL; stream = stream->younger) {
        count += !stream->stuck && mock_stream_pending(stream) ? 1 : 0;
    }
    return count;
}

static void forget_stuck(void)
{
    for (struct stream *stream = mock_stream_oldest(); stream != NULL; stream = stream->younger) {
        stream->stuck = false;
    }
}

/* Goes on with what the device is working on. true: it still is. */
static bool is_working(void)
{
    bool working = false;
    for (struct stream *stream = mock_stream_oldest(); stream != NULL; stream = stream->younger) {
        const struct task *task = stream->first;
        working = (task != NULL && task->kind == TASK_KERNEL && task->as.kernel.sent &&
                   step(stream) == WORKING) ||
                  working;
    }
    return working;
}

/* Runs tasks of any streams until one has come to a position. The order is that of the seed, however
 * long a kernel takes: the next task is chosen when it has ended. */
static enum mock_run shuffle_to(struct stream *stream, uint64_t position)
{
    if (is_working()) {
        return MOCK_WORKING;
    }
    forget_stuck();
    while (stream->executed < position) {
        const size_t count = count_runnable();
        if (count == 0) {
            return MOCK_BLOCKED;
        }
        struct stream *chosen = runnable((size_t)(mock_mode_random() % count));
        const enum step came = step(chosen);
        if (came == WORKING) {
            return MOCK_WORKING;
        }
        if (came == MOVED) {
            forget_stuck(); /* it may have been what others wait for */
        } else {
            chosen->stuck = true;
        }
    }
    return MOCK_ARRIVED;
}

/* ---- running ----------------------------------------------------------------------------- */

static enum mock_run run(struct stream *stream, uint64_t position)
{
    const bool shuffled = stream->executed < position && mock_is_shuffled();
    return shuffled ? shuffle_to(stream, position) : run_to(stream, position);
}

bool mock_run_awaited(void)
{
    bool moved = false;
    for (struct stream *stream = mock_stream_oldest(); stream != NULL; stream = stream->younger) {
        const uint64_t before = stream->executed;
        if (before < stream->awaited) {
            run(stream, stream->awaited);
            moved = moved || stream->executed > before;
        }
    }
    return moved;
}

enum mock_run mock_stream_run(struct stream *stream, uint64_t position)
{
    enum mock_run came = run(stream, position);
    /* What holds it up may itself wait for what others of this program have queued. */
    while (came == MOCK_BLOCKED && mock_run_awaited()) {
        came = run(stream, position);
    }
    return came;
}

enum mock_run mock_run_eagerly(void)
{
    bool moved = mock_is_eager(), working = false;
    while (moved) {
        moved = working = false;
        for (struct stream *stream = mock_stream_oldest(); stream != NULL;
             stream = stream->younger) {
            enum step came = MOVED;
            while (mock_stream_pending(stream) && (came = step(stream)) == MOVED) {
                moved = true;
            }
            working = working || came == WORKING;
        }
    }
    return working ? MOCK_WORKING : MOCK_ARRIVED;
}
