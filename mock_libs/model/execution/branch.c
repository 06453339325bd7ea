/* SPDX-License-Identifier: Apache-2.0 */
/* Branches of graphs that are built by binding streams: a task after which other parts begin. */
#include "branch.h"

#include <stdlib.h>
#include <string.h>

#include "address_query.h"
#include "error_message.h"
#include "event.h"
#include "host_task.h"
#include "notify.h"

struct branch *mock_branch_new(size_t count)
{
    struct branch *branch = calloc(1, sizeof *branch + count * sizeof *branch->targets);
    if (branch == NULL) {
        mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a branch");
    } else {
        branch->count = count;
    }
    return branch;
}

/* Let the part of a target, which waits for the begin of the graph, wait for a branch instead. */
static void begin_after(struct lane *lane, const struct stream *stream, uint64_t position)
{
    struct task *first = lane->graph->first;
    while (first->lane != lane) {
        first = first->next;
    }
    lane->inactive = false;
    first->as.event.source = stream->handle;
    first->as.event.position = position;
}

aclError mock_branch_queue(struct stream *stream, struct branch *branch)
{
    aclError status = ACL_SUCCESS;
    for (size_t i = 0; i < branch->count; i++) {
        const struct lane *lane = branch->targets[i].lane;
        if (lane->graph != stream->lane->graph || (lane != stream->lane && !lane->inactive)) {
            status = mock_fail(MOCK_NOT_IMPLEMENTED,
                               "the simulated NPU continues on the same stream, or on one of its "
                               "graph that is bound with flag 0x7FFFFFFF and that nothing else "
                               "activates");
        }
    }
    struct task *task =
        status == ACL_SUCCESS ? mock_stream_submit(stream, TASK_BRANCH, &status) : NULL;
    if (task == NULL) {
        free(branch);
        return status;
    }
    task->as.branch = branch;
    branch->lane = stream->lane;
    branch->position = task->position;
    branch->next = stream->lane->graph->branches;
    stream->lane->graph->branches = branch;
    for (size_t i = 0; i < branch->count; i++) {
        if (branch->targets[i].lane->inactive) {
            begin_after(branch->targets[i].lane, stream, task->position);
        }
    }
    return ACL_SUCCESS;
}

/* ---- running ------------------------------------------------------------------------------- */

static void skip(struct task *task, uint64_t count);

/* The tasks of a part behind the one that waits for its branch; NULL: aclmdlRIAbort dropped them. */
static struct task *after_wait(const struct stream *stream)
{
    return stream == NULL || stream->first == NULL ? NULL : stream->first->next;
}

/* Skip the parts that a branch may begin, but one. */
static void skip_parts(const struct branch *branch, const struct lane *but)
{
    for (size_t i = 0; i < branch->count; i++) {
        const struct lane *lane = branch->targets[i].lane;
        const struct stream *own = mock_handle_get(lane->own, MOCK_STREAM);
        if (lane != branch->lane && lane != but) {
            skip(after_wait(own), lane->count - 1);
        }
    }
}

/* Let queued tasks do nothing; a part that one of them begins is skipped with it. */
static void skip(struct task *task, uint64_t count)
{
    for (; task != NULL && count > 0; count--, task = task->next) {
        if (task->kind == TASK_BRANCH) {
            skip_parts(task->as.branch, NULL);
        } else if (task->kind == TASK_WAIT || task->kind == TASK_RECORD) {
            mock_event_release(task);
        } else if (task->kind == TASK_NOTIFY_WAIT) {
            mock_notify_release(task);
        }
        mock_task_clear(task);
        task->kind = TASK_RECORD; /* of no event */
        memset(&task->as, 0, sizeof task->as);
        task->effect = MOCK_NO_EFFECT;
    }
}

/* Return whether a task may run twice in one execution: nothing of another part depends on it. */
static bool is_repeatable(const struct task *task, const struct branch *branch)
{
    switch (task->kind) {
    case TASK_RECORD:
        return task->as.event.event == NULL;
    case TASK_WAIT:
    case TASK_RESET:
    case TASK_NOTIFY_RECORD:
    case TASK_NOTIFY_WAIT:
        return false;
    case TASK_BRANCH:
        for (size_t i = 0; i < task->as.branch->count; i++) {
            if (task->as.branch->targets[i].lane != branch->lane && task->as.branch != branch) {
                return false;
            }
        }
        return true;
    default:
        return true;
    }
}

/* Queue what precedes a branch in its part, from a position on, behind it once more. */
static void repeat(struct stream *stream, struct task *task, uint64_t position)
{
    const struct branch *branch = task->as.branch;
    const struct graph *graph = branch->lane->graph;
    const uint64_t base = task->position - branch->position;
    struct task *rest = task->next, *last = task;
    for (const struct task *each = graph->first; each != NULL; each = each->next) {
        if (each->lane != branch->lane || each->position <= position ||
            each->position > branch->position) {
            continue;
        }
        struct task *copy = is_repeatable(each, branch) ? mock_stream_task(each->kind) : NULL;
        if (copy == NULL || !mock_task_copy(copy, each)) {
            mock_stream_fail(stream, MOCK_NOT_IMPLEMENTED,
                             "the simulated NPU repeats no task that other streams wait for, or "
                             "that waits for them, such as %s",
                             each->origin.function == NULL ? "a call" : each->origin.function);
            if (copy != NULL) {
                mock_task_free(copy);
            }
            break;
        }
        copy->graph = graph->handle;
        copy->position = base + each->position;
        mock_host_task_queued(stream, copy);
        last->next = copy;
        last = copy;
    }
    last->next = rest;
    stream->last = rest == NULL ? last : stream->last;
    if (last != task) {
        task->position = base + position; /* it is not behind this branch yet */
    }
}

/* An operand; *good false: its memory is gone. */
static int64_t value_of(const struct branch *branch, const void *address, bool *good)
{
    int64_t wide = 0;
    int32_t narrow = 0;
    void *to = branch->bytes == sizeof wide ? (void *)&wide : (void *)&narrow;
    const void *from = mock_live_alias(address, branch->bytes);
    *good = *good && from != NULL;
    if (from != NULL) {
        memcpy(to, from, branch->bytes);
    }
    return branch->bytes == sizeof wide ? wide : narrow;
}

static bool holds(int64_t left, int64_t right, aclrtCondition condition)
{
    switch (condition) {
    case ACL_RT_EQUAL:
        return left == right;
    case ACL_RT_NOT_EQUAL:
        return left != right;
    case ACL_RT_GREATER:
        return left > right;
    case ACL_RT_GREATER_OR_EQUAL:
        return left >= right;
    case ACL_RT_LESS:
        return left < right;
    default:
        return left <= right;
    }
}

/* The target of a branch, or NULL: its part goes on. */
static const struct target *choose(struct stream *stream, const struct branch *branch)
{
    bool good = true;
    const int64_t left = value_of(branch, branch->left, &good);
    const int64_t right = branch->right == NULL ? 0 : value_of(branch, branch->right, &good);
    if (!good) {
        mock_stream_fail(stream, ACL_ERROR_RT_SYS_DMA,
                         "the memory of a branch was freed before the stream came to it");
        return NULL;
    }
    if (branch->right != NULL) {
        return holds(left, right, branch->condition) ? &branch->targets[0] : NULL;
    }
    const uint32_t index = (uint32_t)left;
    return &branch->targets[index < branch->count ? index : branch->count - 1];
}

void mock_branch_run(struct stream *stream, struct task *task)
{
    const struct branch *branch = task->as.branch;
    if (branch->left == NULL) {
        return; /* all parts begin, and this one goes on */
    }
    const struct target *target = choose(stream, branch);
    if (target != NULL && target->lane == branch->lane) {
        repeat(stream, task, target->position);
        return;
    }
    skip_parts(branch, target == NULL ? NULL : target->lane);
    if (target != NULL) {
        skip(task->next, branch->lane->count - branch->position);
        skip(after_wait(mock_handle_get(target->lane->own, MOCK_STREAM)),
             target->position > 1 ? target->position - 1 : 0);
    }
}
