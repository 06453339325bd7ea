/* SPDX-License-Identifier: Apache-2.0 */
/* A stream that waits for a notify. */
#include "notify_wait.h"

#include <time.h>

#include "notify.h"

/* The stream whose queued work sets the flag first, or NULL. */
static struct stream *find_record(const struct stream *but, const void *handle, uint64_t *position)
{
    for (struct stream *stream = mock_stream_oldest(); stream != NULL; stream = stream->younger) {
        for (const struct task *task = stream == but ? NULL : stream->first; task != NULL;
             task = task->next) {
            if (task->kind == TASK_NOTIFY_RECORD && task->as.notify.notify == handle) {
                *position = task->position;
                return stream;
            }
        }
    }
    return NULL;
}

/* Whether a wait has taken longer than it may. */
static bool is_late(struct task *task)
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
        return true; /* a destroyed one holds nobody up */
    }
    if (notify->set) {
        notify->set = false;
        notify->waits--;
        return true;
    }
    *source = find_record(stream, task->as.notify.notify, position);
    if (*source == NULL && is_late(task)) {
        notify->waits--;
        mock_stream_fail(stream, ACL_ERROR_RT_TASK_TIMEOUT,
                         "notify %u was not recorded within the timeout of the wait", notify->id);
        return true;
    }
    return false;
}
