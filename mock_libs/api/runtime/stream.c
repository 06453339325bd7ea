/* SPDX-License-Identifier: Apache-2.0 */
/* The aclrt functions about streams. */
#include "capture.h"
#include "error_message.h"
#include "named_callback.h"
#include "stream_config.h"
#include "stream_wait.h"
#include "timeout.h"
#include "violation.h"

struct state {
    aclrtStream stream;
    aclrtStreamState state;
};

static int call_with_state(mock_callback function, void *data, const void *what)
{
    const struct state *state = what;
    ((aclrtStreamStateCallback)function)(state->stream, state->state, data);
    return 0;
}

static void announce(aclrtStream stream, aclrtStreamState which)
{
    const struct state state = {stream, which};
    mock_callbacks_call(MOCK_ON_STREAM_STATE, UINTPTR_MAX, call_with_state, &state);
}

static aclError create_stream(aclrtStream *handle, uint32_t priority, uint32_t flags)
{
    aclError status;
    struct context *context = mock_usable_context(&status);
    if (context == NULL) {
        return status;
    }
    const uint32_t limit = context->device->chip->streams;
    if (context->device->streams >= limit) {
        return mock_fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, "device %d has only %u streams",
                         context->device->id, limit);
    }
    struct stream *stream = mock_stream_new(context);
    if (stream == NULL) {
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a stream");
    }
    stream->flags = flags;
    stream->priority = priority;
    *handle = stream->handle;
    announce(*handle, ACL_RT_STREAM_STATE_CREATE_POST);
    return ACL_SUCCESS;
}

aclError aclrtCreateStream(aclrtStream *stream)
{
    return create_stream(stream, 0, 0);
}

aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority, uint32_t flag)
{
    return create_stream(stream, priority, flag);
}

aclError aclrtCreateStreamV2(aclrtStream *stream, const aclrtStreamConfigHandle *handle)
{
    if (!mock_stream_config_check(handle, false)) {
        return mock_fail(ACL_ERROR_INVALID_PARAM,
                         "aclrtCreateStreamV2: %p is no stream configuration",
                         (const void *)handle);
    }
    return create_stream(stream, handle->priority, (uint32_t)handle->flag);
}

static aclError destroy_stream(aclrtStream handle, bool wait)
{
    struct stream *stream = mock_handle_get(handle, MOCK_STREAM);
    if (stream == NULL) {
        mock_violate_handle(handle, MOCK_STREAM, true);
        return mock_fail(ACL_ERROR_RT_INVALID_HANDLE,
                         "%p is no live stream: it was destroyed, or never was one", handle);
    }
    const struct context *current = mock_context_or_violation();
    if (current == NULL) {
        return mock_fail(ACL_ERROR_RT_CONTEXT_NULL, "this thread has no current context");
    }
    if (stream->context != current) {
        mock_stream_report_foreign(stream, current);
        return mock_fail(ACL_ERROR_RT_STREAM_CONTEXT, "stream %d belongs to another context",
                         stream->id);
    }
    aclError status = mock_capture_check_destroy(stream);
    if (status == ACL_SUCCESS && wait) {
        status = mock_stream_wait(stream, stream->submitted, NULL);
    }
    if (status != ACL_SUCCESS) {
        return status;
    }
    announce(handle, ACL_RT_STREAM_STATE_DESTROY_PRE);
    if (mock_handle_get(handle, MOCK_STREAM) == stream) {
        mock_stream_delete(stream);
    }
    return ACL_SUCCESS;
}

aclError aclrtDestroyStream(aclrtStream stream)
{
    return destroy_stream(stream, true);
}

aclError aclrtDestroyStreamForce(aclrtStream stream)
{
    return destroy_stream(stream, false);
}

static aclError synchronize(aclrtStream handle, const struct timespec *deadline)
{
    aclError status;
    struct stream *stream = mock_stream_find(handle, false, &status);
    status = stream == NULL ? status : mock_capture_check_stream_query(stream);
    return status != ACL_SUCCESS ? status : mock_stream_finish(stream, deadline);
}

aclError aclrtSynchronizeStream(aclrtStream stream)
{
    return synchronize(stream, NULL);
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout)
{
    struct timespec deadline;
    const struct timespec *limit;
    const aclError status = mock_limit(timeout, ACL_ERROR_RT_PARAM_INVALID, &deadline, &limit);
    if (status != ACL_SUCCESS) {
        return status;
    }
    return synchronize(stream, limit);
}

/* A query returns the state and then advances the work, so that a polling loop ends. */
aclError aclrtStreamQuery(aclrtStream handle, aclrtStreamStatus *result)
{
    aclError status;
    struct stream *stream = mock_stream_find(handle, false, &status);
    status = stream == NULL ? status : mock_capture_check_stream_query(stream);
    if (status != ACL_SUCCESS) {
        return status;
    }
    if (mock_stream_pending(stream)) {
        *result = ACL_STREAM_STATUS_NOT_READY;
        mock_stream_advance(stream, stream->submitted);
        return ACL_SUCCESS;
    }
    *result = ACL_STREAM_STATUS_COMPLETE;
    return mock_stream_take_error(stream);
}

aclError aclrtStreamAbort(aclrtStream handle)
{
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    status = stream == NULL ? status : mock_capture_check_destroy(stream);
    if (status == ACL_SUCCESS && mock_stream_drop(stream)) {
        mock_stream_fail(stream, ACL_ERROR_RT_STREAM_ABORT,
                         "aclrtStreamAbort dropped work of stream %d", stream->id);
    }
    return status;
}

/* A stream that is idle has no task to stop. How the queue of another goes on is not known. */
aclError aclrtStreamStop(aclrtStream handle)
{
    aclError status;
    const struct stream *stream = mock_stream_find(handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    if (stream->lane != NULL) {
        return mock_fail(ACL_ERROR_RT_INTERNAL_ERROR, "stream %d is bound to a graph", stream->id);
    }
    return !mock_stream_pending(stream)
               ? ACL_SUCCESS
               : mock_fail(MOCK_NOT_IMPLEMENTED,
                           "the simulated NPU stops no task of a stream that has work, such as "
                           "stream %d; aclrtStreamAbort drops it",
                           stream->id);
}

aclError aclrtStreamGetId(aclrtStream handle, int32_t *id)
{
    aclError status;
    const struct stream *stream = mock_stream_find(handle, false, &status);
    if (stream != NULL) {
        *id = stream->id;
    }
    return status;
}

aclError aclrtSetStreamFailureMode(aclrtStream handle, uint64_t mode)
{
    if (mode != ACL_CONTINUE_ON_FAILURE && mode != ACL_STOP_ON_FAILURE) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "failure mode %llu does not exist",
                         (unsigned long long)mode);
    }
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    if (stream != NULL) {
        stream->stop_on_failure = mode == ACL_STOP_ON_FAILURE;
    }
    return status;
}

static aclError overflow_switch(aclrtStream handle, uint32_t *flag, bool set)
{
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    if (stream != NULL && set) {
        stream->overflow_switch = *flag;
    } else if (stream != NULL) {
        *flag = stream->overflow_switch;
    }
    return status;
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag)
{
    return overflow_switch(stream, &flag, true);
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t *flag)
{
    return overflow_switch(stream, flag, false);
}

/* Where a stream keeps an attribute of 32 bits, or NULL after mock_fail. */
static uint32_t *attribute_of(struct stream *stream, aclrtStreamAttr attribute)
{
    switch ((int)attribute) {
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
        return &stream->overflow_switch;
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
        return &stream->tag;
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
        return &stream->cache_op_info;
    case ACL_STREAM_ATTR_PRIORITY:
        return &stream->priority;
    default:
        mock_fail(ACL_ERROR_RT_PARAM_INVALID, "stream attribute %d does not exist", (int)attribute);
        return NULL;
    }
}

aclError aclrtSetStreamAttribute(aclrtStream handle, aclrtStreamAttr attribute,
                                 aclrtStreamAttrValue *value)
{
    if (attribute == ACL_STREAM_ATTR_FAILURE_MODE) {
        return aclrtSetStreamFailureMode(handle, value->failureMode);
    }
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    uint32_t *kept = stream == NULL ? NULL : attribute_of(stream, attribute);
    if (kept != NULL) {
        *kept = value->reserve[0];
    }
    return stream != NULL && kept == NULL ? ACL_ERROR_RT_PARAM_INVALID : status;
}

aclError aclrtGetStreamAttribute(aclrtStream handle, aclrtStreamAttr attribute,
                                 aclrtStreamAttrValue *value)
{
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    if (attribute == ACL_STREAM_ATTR_FAILURE_MODE) {
        value->failureMode = stream->stop_on_failure ? ACL_STOP_ON_FAILURE : ACL_CONTINUE_ON_FAILURE;
        return ACL_SUCCESS;
    }
    const uint32_t *kept = attribute_of(stream, attribute);
    if (kept != NULL) {
        value->reserve[0] = *kept;
    }
    return kept == NULL ? ACL_ERROR_RT_PARAM_INVALID : ACL_SUCCESS;
}
