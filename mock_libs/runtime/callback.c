/* SPDX-License-Identifier: Apache-2.0 */
/* Host callbacks: posted by a stream, run by the thread that subscribed to it. */
#include "state.h"

#include <stdlib.h>

struct subscription {
    uint64_t thread;
    void *stream;
    struct subscription *next;
};

struct post {
    uint64_t thread;
    void *stream;
    uint64_t position;
    bool block;
    aclrtCallback function;
    void *data;
    struct post *next;
};

/* CANN keeps this structure to itself; callers see it through the getters below. */
struct rtExceptionInfo {
    uint32_t task, stream, thread, device, code;
    struct rtExceptionInfo *next;
};

static struct subscription *subscriptions;
static struct post *first_post, **last_post = &first_post;
static aclrtExceptionInfoCallback exception_callback;
static struct rtExceptionInfo *exceptions, **last_exception = &exceptions;

/* ---- subscriptions ------------------------------------------------------------------------ */

static aclError subscribe(uint64_t thread, aclrtStream handle)
{
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    if (stream->subscribed) {
        return mock_fail(ACL_ERROR_RT_STREAM_SUBSCRIBE, "stream %d is subscribed already",
                         stream->id);
    }
    struct subscription *subscription = calloc(1, sizeof *subscription);
    if (subscription == NULL) {
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a subscription");
    }
    *subscription = (struct subscription){thread, stream->handle, subscriptions};
    subscriptions = subscription;
    stream->subscribed = true;
    stream->subscriber = thread;
    return ACL_SUCCESS;
}

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream)
{
    MOCK_GUARDED(subscribe(threadId, stream));
}

void mock_callback_forget(struct stream *stream)
{
    struct subscription **link = &subscriptions;
    while (*link != NULL) {
        struct subscription *subscription = *link;
        if (subscription->stream == stream->handle) {
            *link = subscription->next;
            free(subscription);
        } else {
            link = &subscription->next;
        }
    }
    stream->subscribed = false;
}

static aclError unsubscribe(uint64_t thread, aclrtStream handle)
{
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    if (!stream->subscribed || stream->subscriber != thread) {
        return mock_fail(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                         "thread %llu is not subscribed to stream %d", (unsigned long long)thread,
                         stream->id);
    }
    mock_callback_forget(stream);
    return ACL_SUCCESS;
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream)
{
    MOCK_GUARDED(unsubscribe(threadId, stream));
}

/* ---- callbacks ---------------------------------------------------------------------------- */

static aclError launch(aclrtCallback function, void *data, aclrtCallbackBlockType block,
                       aclrtStream handle)
{
    if (function == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclrtLaunchCallback: fn is NULL");
    }
    if (block != ACL_CALLBACK_NO_BLOCK && block != ACL_CALLBACK_BLOCK) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclrtLaunchCallback: blockType is %d",
                         (int)block);
    }
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    if (!stream->subscribed) {
        return mock_fail(ACL_ERROR_RT_STREAM_NO_CB_REG,
                         "no thread is subscribed to stream %d; call aclrtSubscribeReport first",
                         stream->id);
    }
    struct task *task = mock_stream_submit(stream, TASK_CALLBACK);
    if (task == NULL) {
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    task->as.callback.function = function;
    task->as.callback.data = data;
    task->as.callback.block = block == ACL_CALLBACK_BLOCK;
    return ACL_SUCCESS;
}

aclError aclrtLaunchCallback(aclrtCallback fn, void *userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream)
{
    MOCK_GUARDED(launch(fn, userData, blockType, stream));
}

bool mock_callback_post(struct stream *stream, struct task *task)
{
    if (!task->as.callback.posted) {
        struct post *post = calloc(1, sizeof *post);
        if (post == NULL) {
            return false; /* tried again when the stream runs next */
        }
        *post = (struct post){.thread = stream->subscriber,
                              .stream = stream->handle,
                              .position = task->position,
                              .block = task->as.callback.block,
                              .function = task->as.callback.function,
                              .data = task->as.callback.data};
        *last_post = post;
        last_post = &post->next;
        task->as.callback.posted = true;
        mock_progress();
    }
    return !task->as.callback.block || task->as.callback.done;
}

static struct post *take_post(uint64_t thread)
{
    for (struct post **link = &first_post; *link != NULL; link = &(*link)->next) {
        struct post *post = *link;
        if (post->thread == thread) {
            *link = post->next;
            if (last_post == &post->next) {
                last_post = link;
            }
            return post;
        }
    }
    return NULL;
}

/* Lets the thread's streams run up to their next callback. Fails when it has no stream, and when
 * none of its streams can ever come to a callback any more. */
static aclError pump(uint64_t thread)
{
    aclError status = ACL_ERROR_RT_THREAD_SUBSCRIBE;
    for (struct subscription *each = subscriptions; each != NULL; each = each->next) {
        struct stream *stream =
            each->thread == thread ? mock_handle_get(each->stream, MOCK_STREAM) : NULL;
        if (stream != NULL && status != ACL_SUCCESS) {
            status = mock_device_alive(stream->context->device);
        }
        if (stream != NULL) {
            mock_stream_run(stream, stream->submitted);
        }
    }
    return status;
}

static void finish(const struct post *post)
{
    const struct stream *stream = mock_handle_get(post->stream, MOCK_STREAM);
    struct task *task = stream == NULL ? NULL : stream->first;
    if (post->block && task != NULL && task->position == post->position) {
        task->as.callback.done = true;
    }
    mock_progress();
}

/* Called without the lock, and runs the callback without it: the callback may call CANN. */
static aclError process(const struct timespec *deadline)
{
    const uint64_t self = (uint64_t)pthread_self();
    struct post *post = NULL;
    aclError status = ACL_SUCCESS;
    mock_enter();
    while (post == NULL && status == ACL_SUCCESS) {
        const aclError hopeless = pump(self);
        post = take_post(self);
        if (post == NULL && hopeless == ACL_ERROR_RT_THREAD_SUBSCRIBE) {
            status = mock_fail(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                               "this thread is not subscribed to any stream");
        } else if (post == NULL && hopeless != ACL_SUCCESS) {
            status = hopeless;
        } else if (post == NULL && !mock_wait_progress(deadline)) {
            status = mock_fail(ACL_ERROR_RT_REPORT_TIMEOUT,
                               "no callback came within the timeout");
        }
    }
    mock_leave();
    if (post != NULL) {
        post->function(post->data);
        mock_enter();
        finish(post);
        mock_leave();
        free(post);
    }
    return status;
}

aclError aclrtProcessReport(int32_t timeout)
{
    struct timespec deadline;
    const struct timespec *limit;
    const aclError status = mock_limit(timeout, ACL_ERROR_INVALID_PARAM, &deadline, &limit);
    if (status != ACL_SUCCESS) {
        return status;
    }
    return process(limit);
}

/* ---- exceptions --------------------------------------------------------------------------- */

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback)
{
    mock_enter();
    exception_callback = callback;
    mock_leave();
    return ACL_SUCCESS;
}

void mock_exception_note(const struct stream *stream, uint64_t position, aclError code)
{
    struct rtExceptionInfo *info =
        exception_callback == NULL ? NULL : calloc(1, sizeof *info);
    if (info != NULL) {
        info->task = (uint32_t)position;
        info->stream = (uint32_t)stream->id;
        info->thread = (uint32_t)(uintptr_t)pthread_self();
        info->device = (uint32_t)stream->context->device->id;
        info->code = (uint32_t)code;
        *last_exception = info;
        last_exception = &info->next;
    }
}

struct rtExceptionInfo *mock_exception_take(aclrtExceptionInfoCallback *callback)
{
    struct rtExceptionInfo *list = exceptions;
    exceptions = NULL;
    last_exception = &exceptions;
    *callback = exception_callback;
    return list;
}

void mock_exception_deliver(struct rtExceptionInfo *list, aclrtExceptionInfoCallback callback)
{
    while (list != NULL) {
        struct rtExceptionInfo *next = list->next;
        if (callback != NULL) {
            callback(list);
        }
        free(list);
        list = next;
    }
}

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info == NULL ? UINT32_MAX : info->task;
}

uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info == NULL ? UINT32_MAX : info->stream;
}

uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info == NULL ? UINT32_MAX : info->thread;
}

uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info == NULL ? UINT32_MAX : info->device;
}

uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo *info)
{
    return info == NULL ? UINT32_MAX : info->code;
}
