/* SPDX-License-Identifier: Apache-2.0 */
/* Scheduler of the streams. A stream that waits for another runs that one first, and so on: they
 * form a chain, so that their number costs no stack. */
#include "scheduler.h"

#include <stdlib.h>

#include "branch.h"
#include "event.h"
#include "exception.h"
#include "fault.h"
#include "host_task.h"
#include "kernel.h"
#include "lock.h"
#include "mode.h"
#include "notify.h"
#include "notify_wait.h"
#include "stream_value.h"
#include "transfer.h"

/* Result of an attempt to run the first task of a stream. */
enum step {
    MOVED,
    WORKING, /* the device has not finished it, or is busy with another */
    BLOCKED, /* on something another thread must do */
    WAITS    /* for a position of another stream */
};

static enum step run_wait(struct stream *stream, struct task *task)
{
    if (task->as.event.source == NULL && !mock_event_find_source(task)) {
        return BLOCKED;
    }
    /* A destroyed stream has finished its work or dropped it. */
    struct stream *source = mock_handle_get(task->as.event.source, MOCK_STREAM);
    if (source != NULL && source->executed < task->as.event.position) {
        stream->blocker = source;
        stream->blocker_position = task->as.event.position;
        return WAITS;
    }
    mock_event_release(task);
    return MOVED;
}

/* For a wait that is over, or that returns the blocking stream, if there is one. */
static enum step step_of(const struct stream *stream, bool over)
{
    if (over) {
        return MOVED;
    }
    return stream->blocker == NULL ? BLOCKED : WAITS;
}

/* An injected failure takes the place of the work. */
static bool run_fault(struct stream *stream, const struct task *task)
{
    if (task->effect == MOCK_HANGS) {
        /* Faults that were removed let the stream continue, so that a program can clean up. */
        return task->effect_generation != mock_fault_generation();
    }
    mock_stream_fail(stream, task->effect_code, "a fault was injected into %s; it failed when it ran",
                     task->origin.function);
    mock_exception_record((uint32_t)stream->id, (uint32_t)stream->context->device->id, task->position, task->effect_code);
    return true;
}

/* Posts a callback to its thread; true when the stream may go on. */
static bool post_callback(const struct stream *stream, struct task *task)
{
    if (!task->as.callback.posted) {
        const struct subscription *subscription = mock_subscription_of(stream->handle);
        const uint64_t subscriber = subscription == NULL ? 0 : subscription->thread;
        const struct post post = {.thread = task->as.callback.host
                                                ? mock_post_thread(stream->context->handle)
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
        mock_signal_progress();
    }
    return !task->as.callback.block || task->as.callback.done;
}

void mock_post_complete(struct post *post)
{
    const struct stream *stream = mock_handle_get(post->stream, MOCK_STREAM);
    struct task *task = stream == NULL ? NULL : stream->first;
    if (post->block && task != NULL && task->position == post->position) {
        task->as.callback.done = true;
    }
    mock_signal_progress();
    free(post);
}

static enum step run_task(struct stream *stream, struct task *task, uint64_t until)
{
    if (task->effect == MOCK_HANGS || task->effect == MOCK_FAILS_LATER) {
        return run_fault(stream, task) ? MOVED : BLOCKED;
    }
    switch (task->kind) {
    case TASK_KERNEL:
        return mock_kernel_run(stream, until) ? MOVED : WORKING;
    case TASK_HOST:
        return mock_host_task_run(stream, task) ? MOVED : BLOCKED;
    case TASK_COPY:
        if (!task->as.copy.is_read) {
            mock_copy_run(stream, task);
        }
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
        mock_notify_recorded(task);
        return MOVED;
    case TASK_NOTIFY_WAIT:
        return step_of(stream, mock_notify_taken(stream, task, &stream->blocker,
                                                 &stream->blocker_position));
    case TASK_VALUE_WRITE:
        mock_value_written(stream, task);
        return MOVED;
    case TASK_VALUE_WAIT:
        return step_of(stream, mock_value_reached(stream, task, &stream->blocker,
                                                  &stream->blocker_position));
    case TASK_BRANCH:
        mock_branch_run(stream, task);
        return MOVED;
    }
    return MOVED;
}

/* After a failure that stops the context, and without its device, nothing runs any more; what the
 * device had already has an end of its own. */
static bool is_unreachable(const struct stream *stream)
{
    const struct task *task = stream->first;
    if (task->kind == TASK_KERNEL && task->as.kernel.sent > 0) {
        return false;
    }
    return stream->context->stopped != ACL_SUCCESS || stream->context->device->lost;
}

/* Run the first task of a stream that has one. The device may begin what follows at once, as far
 * as a position. */
static enum step step_stream(struct stream *stream, uint64_t until)
{
    struct task *task = stream->first;
    const bool dead = is_unreachable(stream);
    if (dead && (task->kind == TASK_WAIT || task->kind == TASK_RECORD)) {
        mock_event_release(task);
    } else if (dead && task->kind == TASK_NOTIFY_WAIT) {
        mock_notify_release(task);
    }
    const enum step result = dead ? MOVED : run_task(stream, task, until);
    if (result == MOVED) {
        mock_stream_pop(stream);
    }
    return result;
}

/* Put a stream on top of a chain of streams, each of which waits for the one above it. */
static struct stream *push(struct stream *below, struct stream *stream, uint64_t target)
{
    stream->below = below;
    stream->target = target;
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
    return top->blocker->running ? NULL : push(top, top->blocker, top->blocker_position);
}

static enum mock_run run_to(struct stream *stream, uint64_t position)
{
    enum step result = MOVED;
    struct stream *top = push(NULL, stream, position);
    while (top != NULL && result == MOVED) {
        if (top->first == NULL || top->first->position > top->target) {
            top = pop(top);
            continue;
        }
        result = step_stream(top, top->target);
        struct stream *higher = result == WAITS ? climb(top) : NULL;
        if (higher != NULL) {
            top = higher;
            result = MOVED;
        }
    }
    while (top != NULL) {
        top = pop(top);
    }
    return result == MOVED ? MOCK_ARRIVED : result == WORKING ? MOCK_WORKING : MOCK_BLOCKED;
}

/* ---- a random order ---------------------------------------------------------------------- */

/* The index-th stream that has work and is not known to be blocked, or NULL. */
static struct stream *runnable(size_t index)
{
    struct stream *stream = mock_stream_first();
    while (stream != NULL && (stream->stuck || !mock_stream_pending(stream) || index-- > 0)) {
        stream = stream->next_created;
    }
    return stream;
}

static size_t count_runnable(void)
{
    size_t count = 0;
    for (struct stream *stream = mock_stream_first(); stream != NULL; stream = stream->next_created) {
        count += !stream->stuck && mock_stream_pending(stream) ? 1 : 0;
    }
    return count;
}

static void clear_blocked(void)
{
    for (struct stream *stream = mock_stream_first(); stream != NULL; stream = stream->next_created) {
        stream->stuck = false;
    }
}

/* Take the answers of the kernels that devices have begun, whatever streams they are of: the wait
 * for one may have been given up, and its device begins no other kernel before. */
static enum mock_run run_begun(void)
{
    enum mock_run result = MOCK_BLOCKED;
    for (struct stream *stream = mock_stream_first(); stream != NULL; stream = stream->next_created) {
        const struct task *task = stream->first;
        if (task != NULL && task->kind == TASK_KERNEL && task->as.kernel.sent > 0) {
            const bool working = step_stream(stream, task->position) == WORKING;
            result = working || result == MOCK_WORKING ? MOCK_WORKING : MOCK_ARRIVED;
        }
    }
    return result;
}

/* Run tasks of all streams until one reaches a position. The order is that of the seed, however
 * long a kernel takes: the next task is chosen when it has ended. */
static enum mock_run run_shuffled(struct stream *stream, uint64_t position)
{
    if (run_begun() == MOCK_WORKING) {
        return MOCK_WORKING;
    }
    clear_blocked();
    while (stream->executed < position) {
        const size_t count = count_runnable();
        if (count == 0) {
            return MOCK_BLOCKED;
        }
        struct stream *chosen = runnable((size_t)(mock_mode_random() % count));
        const enum step result = step_stream(chosen, chosen->first->position);
        if (result == WORKING) {
            return MOCK_WORKING;
        }
        if (result == MOVED) {
            clear_blocked(); /* it may have been what others wait for */
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
    return shuffled ? run_shuffled(stream, position) : run_to(stream, position);
}

bool mock_run_awaited(void)
{
    bool moved = false;
    for (struct stream *stream = mock_stream_first(); stream != NULL; stream = stream->next_created) {
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
    enum mock_run result = run(stream, position);
    /* The blocking stream may itself wait for other streams of this program, and the device may
     * have finished a kernel of another. */
    while ((result == MOCK_BLOCKED && mock_run_awaited()) ||
           (result == MOCK_WORKING && run_begun() == MOCK_ARRIVED)) {
        result = run(stream, position);
    }
    return result;
}

enum mock_run mock_run_eagerly(void)
{
    bool moved = mock_is_eager(), working = false;
    while (moved) {
        moved = working = false;
        for (struct stream *stream = mock_stream_first(); stream != NULL;
             stream = stream->next_created) {
            enum step result = MOVED;
            while (mock_stream_pending(stream) && (result = step_stream(stream, stream->submitted)) == MOVED) {
                moved = true;
            }
            working = working || result == WORKING;
        }
    }
    return working ? MOCK_WORKING : MOCK_ARRIVED;
}
