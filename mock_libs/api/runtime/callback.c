/* SPDX-License-Identifier: Apache-2.0 */
/* Host callbacks, and the exception callback. */
#include "callback.h"

#include <pthread.h>

#include "entry.h"
#include "error_message.h"
#include "exception.h"
#include "host_thread.h"
#include "scheduler.h"
#include "timeout.h"
#include "wire.h"

aclError aclrtSubscribeReport(uint64_t thread, aclrtStream handle)
{
    aclError status;
    const struct stream *stream = mock_stream_find(handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    if (mock_subscription_of(stream->handle) != NULL) {
        return mock_fail(ACL_ERROR_RT_STREAM_SUBSCRIBE, "stream %d is subscribed already",
                         stream->id);
    }
    if (!mock_subscribe(thread, stream->handle)) {
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a subscription");
    }
    return ACL_SUCCESS;
}

aclError aclrtUnSubscribeReport(uint64_t thread, aclrtStream handle)
{
    aclError status;
    const struct stream *stream = mock_stream_find(handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    const struct subscription *subscription = mock_subscription_of(stream->handle);
    if (subscription == NULL || subscription->thread != thread) {
        return mock_fail(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                         "thread %llu is not subscribed to stream %d", (unsigned long long)thread,
                         stream->id);
    }
    mock_unsubscribe(stream->handle);
    return ACL_SUCCESS;
}

aclError aclrtLaunchCallback(aclrtCallback function, void *data, aclrtCallbackBlockType block,
                             aclrtStream handle)
{
    if (block != ACL_CALLBACK_NO_BLOCK && block != ACL_CALLBACK_BLOCK) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclrtLaunchCallback: blockType is %d",
                         (int)block);
    }
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    if (mock_subscription_of(stream->handle) == NULL) {
        return mock_fail(ACL_ERROR_RT_STREAM_NO_CB_REG,
                         "no thread is subscribed to stream %d; call aclrtSubscribeReport first",
                         stream->id);
    }
    if (stream->lane != NULL) {
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                         "stream %d is being captured: the simulated NPU captures no callbacks",
                         stream->id);
    }
    struct task *task = mock_stream_submit(stream, TASK_CALLBACK, &status);
    if (task == NULL) {
        return status;
    }
    task->as.callback.function = function;
    task->as.callback.data = data;
    task->as.callback.block = block == ACL_CALLBACK_BLOCK;
    return ACL_SUCCESS;
}

aclError aclrtLaunchHostFunc(aclrtStream handle, aclrtHostFunc function, void *data)
{
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    const bool own = stream != NULL && mock_subscription_of(stream->handle) == NULL;
    if (own && !mock_host_thread_start(stream->context)) {
        return mock_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "no thread for host functions");
    }
    struct task *task =
        stream == NULL ? NULL : mock_stream_submit(stream, TASK_CALLBACK, &status);
    if (task != NULL) {
        task->as.callback.function = function;
        task->as.callback.data = data;
        task->as.callback.block = true;
        task->as.callback.host = own;
    }
    return status;
}

/* Run the thread's streams up to their next callback. Fails when it has no stream, and when none
 * of its streams can reach a callback any more. */
static aclError pump(uint64_t thread)
{
    aclError status = ACL_ERROR_RT_THREAD_SUBSCRIBE;
    for (const struct subscription *each = mock_subscriptions(); each != NULL; each = each->next) {
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

/* Called without the lock, and runs the callback without it: the callback may call CANN. */
static aclError process(const struct timespec *deadline)
{
    const uint64_t self = (uint64_t)pthread_self();
    struct post *post = NULL;
    aclError status = ACL_SUCCESS;
    mock_enter();
    while (post == NULL && status == ACL_SUCCESS) {
        const aclError failure = pump(self);
        post = mock_post_take(self);
        if (post == NULL && failure == ACL_ERROR_RT_THREAD_SUBSCRIBE) {
            status = mock_fail(ACL_ERROR_RT_THREAD_SUBSCRIBE,
                               "this thread is not subscribed to any stream");
        } else if (post == NULL && failure != ACL_SUCCESS) {
            status = failure;
        } else if (post == NULL && !mock_wait_progress(deadline)) {
            status = mock_fail(ACL_ERROR_RT_REPORT_TIMEOUT,
                               "no callback came within the timeout");
        }
    }
    mock_leave();
    if (post != NULL) {
        mock_post_run(post);
        mock_enter();
        mock_post_complete(post);
        mock_leave();
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

/* A thread of the program takes the host functions of a stream, as it takes callbacks. */
aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream)
{
    return exeStream == NULL ? mock_fail(ACL_ERROR_RT_PARAM_INVALID, "exeStream is NULL")
                             : aclrtSubscribeReport(hostFuncThreadId, exeStream);
}

aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId, aclrtStream exeStream)
{
    return exeStream == NULL ? mock_fail(ACL_ERROR_RT_PARAM_INVALID, "exeStream is NULL")
                             : aclrtUnSubscribeReport(hostFuncThreadId, exeStream);
}

aclError aclrtProcessHostFunc(int32_t timeout)
{
    return aclrtProcessReport(timeout);
}

/* ---- exceptions -------------------------------------------------------------------------- */

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback)
{
    mock_exception_set(callback);
    return ACL_SUCCESS;
}

aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback)
{
    /* One that is registered stays where it is. */
    return mock_exception_change(callback, callback) || mock_exception_change(NULL, callback)
               ? ACL_SUCCESS
               : mock_fail(ACL_ERROR_RT_INTERNAL_ERROR, "%d callbacks are registered already",
                           MOCK_EXCEPTION_CALLBACKS - 1);
}

aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback)
{
    return mock_exception_change(callback, NULL)
               ? ACL_SUCCESS
               : mock_fail(ACL_ERROR_RT_PARAM_INVALID, "the callback is not registered");
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
