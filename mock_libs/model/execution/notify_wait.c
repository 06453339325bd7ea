/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of streams for notifies. */
#include "notify_wait.h"

#include <time.h>

#include "notify.h"

static bool records(const struct task *task, const void *handle)
{
    return task->kind == TASK_NOTIFY_RECORD && task->as.notify.notify == handle;
}

/* Return whether a wait has exceeded its time limit. */
static bool is_timed_out(struct task *task)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (task->as.notify.since == 0) {
        task->as.notify.since = now.tv_sec;
    }
    return task->as.notify.seconds > 0 &&
           now.tv_sec - task->as.notify.since > (time_t)task->as.notify.seconds;
}

bool mock_notify_taken(struct stream *stream, struct task *task, struct stream **source,
                       uint64_t *position)
{
    struct notify *notify = mock_handle_get(task->as.notify.notify, MOCK_NOTIFY);
    *source = NULL;
    if (notify == NULL) {
        return true; /* a destroyed one blocks no stream */
    }
    if (mock_notify_pass(notify, task)) {
        notify->waits--;
        return true;
    }
    *source = mock_stream_find_task(records, task->as.notify.notify, stream, position);
    if (*source == NULL && is_timed_out(task)) {
        notify->waits--;
        mock_stream_fail(stream, ACL_ERROR_RT_TASK_TIMEOUT,
                         "notify %u was not recorded within the timeout of the wait", notify->id);
        return true;
    }
    return false;
}
