/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of a context that runs the host functions of its streams. */
#include "host_thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "callback.h"
#include "entry.h"
#include "lock.h"
#include "scheduler.h"
#include "wire.h"

/* Time without progress after which the thread runs the streams itself: CANN's streams run
 * without being waited for. */
enum { PATIENCE_MILLISECONDS = 50 };

/* The position of the first host function on a stream, or 0. */
static uint64_t next_on(const struct stream *stream)
{
    const struct task *task = stream->first;
    while (task != NULL && !(task->kind == TASK_CALLBACK && task->as.callback.host)) {
        task = task->next;
    }
    return task == NULL ? 0 : task->position;
}

static struct stream *first_with_one(const struct context *context)
{
    struct stream *stream = context->streams;
    while (stream != NULL && next_on(stream) == 0) {
        stream = stream->next;
    }
    return stream;
}

/* Wait for a function to be posted; or, before long, sees to it that one is. */
static void await(const struct context *context)
{
    const struct timespec soon = mock_deadline(PATIENCE_MILLISECONDS);
    void *handle = context->handle;
    const bool any = first_with_one(context) != NULL;
    if (mock_wait_progress(any ? &soon : NULL)) {
        return;
    }
    context = mock_handle_get(handle, MOCK_CONTEXT);
    for (struct stream *stream = context == NULL ? NULL : context->streams; stream != NULL;
         stream = stream->next) {
        const uint64_t position = next_on(stream);
        if (position > 0) {
            mock_stream_run(stream, position);
        }
    }
}

static void *thread_main(void *handle)
{
    const struct context *context;
    mock_enter();
    while ((context = mock_handle_get(handle, MOCK_CONTEXT)) != NULL) {
        struct post *post = mock_post_take(mock_post_thread(handle));
        if (post == NULL) {
            await(context);
            continue;
        }
        mock_leave(); /* the function may call CANN */
        mock_post_run(post);
        mock_enter();
        mock_post_complete(post);
    }
    mock_leave();
    return NULL;
}

bool mock_host_thread_start(struct context *context)
{
    pthread_t thread;
    if (context->host_thread_in == getpid()) {
        return true;
    }
    if (pthread_create(&thread, NULL, thread_main, context->handle) != 0) {
        return false;
    }
    pthread_detach(thread);
    context->host_thread_in = getpid();
    return true;
}
