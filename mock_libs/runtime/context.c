/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: one primary per device, explicit ones beside it, one current per thread. */
#include "state.h"

#include <stdlib.h>

/* The handle, not the object: a context that another thread destroyed is recognised. */
static _Thread_local void *current;
static int64_t process_options[4];

int64_t *mock_process_options(void)
{
    return process_options;
}

struct context *mock_context_new(struct device *device, bool primary)
{
    struct context *context = calloc(1, sizeof *context);
    if (context == NULL) {
        return NULL;
    }
    context->device = device;
    context->primary = primary;
    for (size_t i = 0; i < sizeof context->options / sizeof context->options[0]; i++) {
        context->options[i] = process_options[i];
    }
    context->handle = mock_handle_new(MOCK_CONTEXT, context);
    context->default_stream = context->handle == NULL ? NULL : mock_stream_new(context);
    if (context->default_stream == NULL) {
        mock_handle_close(context->handle, MOCK_CONTEXT);
        free(context);
        return NULL;
    }
    return context;
}

bool mock_context_destroy(struct context *context)
{
    void *handle = context->handle;
    mock_context_wait(handle, NULL);
    if (mock_handle_get(handle, MOCK_CONTEXT) != context) {
        return false;
    }
    context->device->events -= context->events;
    while (context->streams != NULL) {
        mock_stream_delete(context->streams);
    }
    mock_handle_close(context->handle, MOCK_CONTEXT);
    free(context);
    return true;
}

struct context *mock_current_context(void)
{
    return mock_handle_get(current, MOCK_CONTEXT);
}

struct context *mock_context_or_violation(void)
{
    struct context *context = mock_current_context();
    if (context == NULL && current == NULL) {
        mock_violate(MOCK_NO_CONTEXT, "context", NULL, NULL,
                     "this thread has not made any context current");
    } else if (context == NULL) {
        enum mock_mark mark;
        struct mock_history history;
        mock_handle_past(current, MOCK_CONTEXT, &mark, &history);
        mock_violate(MOCK_CONTEXT_GONE, "context", current, &history,
                     "the context that this thread made current was destroyed");
    }
    return context;
}

void mock_set_current_context(struct context *context)
{
    current = context == NULL ? NULL : context->handle;
}

struct context *mock_usable_context(aclError *status)
{
    struct context *context = mock_context_or_violation();
    if (context == NULL) {
        *status = mock_fail(ACL_ERROR_RT_CONTEXT_NULL,
                            "this thread has no current context; call aclrtSetDevice or "
                            "aclrtSetCurrentContext on it first");
        return NULL;
    }
    *status = mock_device_alive(context->device);
    if (*status == ACL_SUCCESS && context->stopped != ACL_SUCCESS) {
        *status = mock_fail(context->stopped,
                            "the context was stopped by an earlier failure "
                            "(ACL_STOP_ON_FAILURE); reset device %d",
                            context->device->id);
    }
    return *status == ACL_SUCCESS ? context : NULL;
}

struct device *mock_current_device(void)
{
    aclError status;
    struct context *context = mock_usable_context(&status);
    return context == NULL ? NULL : context->device;
}

bool mock_deterministic(void)
{
    const struct context *context = mock_current_context();
    return context != NULL && context->options[ACL_OPT_DETERMINISTIC] != 0;
}

static aclError create_context(aclrtContext *handle, int32_t id)
{
    struct device *device = mock_device_find(id);
    if (device == NULL) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    const aclError status = mock_device_open(device);
    if (status != ACL_SUCCESS) {
        return status;
    }
    struct context *context = mock_context_new(device, false);
    if (context == NULL) {
        mock_device_close_if_idle(device);
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtCreateContext: no host memory");
    }
    device->contexts++;
    mock_set_current_context(context);
    *handle = context->handle;
    return ACL_SUCCESS;
}

aclError aclrtCreateContext(aclrtContext *context, int32_t deviceId)
{
    if (context == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateContext: context is NULL");
    }
    MOCK_GUARDED(create_context(context, deviceId));
}

static aclError destroy_context(aclrtContext handle)
{
    struct context *context = mock_handle_get(handle, MOCK_CONTEXT);
    if (context == NULL) {
        mock_violate_handle(handle, MOCK_CONTEXT, true);
    } else if (context->primary) {
        mock_violate(MOCK_PRIMARY_CONTEXT_DESTROYED, "context", handle, NULL,
                     "this is the primary context of device %d", context->device->id);
    }
    if (context == NULL || context->primary) {
        return mock_fail(ACL_ERROR_RT_CONTEXT_NULL, "aclrtDestroyContext: %p is %s", handle,
                         context == NULL ? "no live context"
                                         : "a device's primary context; aclrtResetDevice ends it");
    }
    struct device *device = context->device;
    if (!mock_context_destroy(context)) {
        return mock_fail(ACL_ERROR_RT_CONTEXT_NULL,
                         "aclrtDestroyContext: another thread destroyed %p meanwhile", handle);
    }
    device->contexts--;
    mock_device_close_if_idle(device);
    return ACL_SUCCESS;
}

aclError aclrtDestroyContext(aclrtContext context)
{
    if (context == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclrtDestroyContext: context is NULL");
    }
    MOCK_GUARDED(destroy_context(context));
}

static aclError set_current(aclrtContext handle)
{
    struct context *context = mock_handle_get(handle, MOCK_CONTEXT);
    if (context == NULL) {
        mock_violate_handle(handle, MOCK_CONTEXT, false);
        return mock_fail(ACL_ERROR_RT_CONTEXT_NULL,
                         "aclrtSetCurrentContext: %p is no live context", handle);
    }
    mock_set_current_context(context);
    return ACL_SUCCESS;
}

aclError aclrtSetCurrentContext(aclrtContext context)
{
    if (context == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclrtSetCurrentContext: context is NULL");
    }
    MOCK_GUARDED(set_current(context));
}

static aclError get_current(aclrtContext *handle)
{
    const struct context *context = mock_current_context();
    if (context == NULL) {
        return mock_fail(ACL_ERROR_RT_CONTEXT_NULL, "this thread has no current context");
    }
    *handle = context->handle;
    return ACL_SUCCESS;
}

aclError aclrtGetCurrentContext(aclrtContext *context)
{
    if (context == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetCurrentContext: context is NULL");
    }
    MOCK_GUARDED(get_current(context));
}

/* ---- system parameters -------------------------------------------------------------------- */

static aclError option(int64_t *options, aclSysParamOpt opt, int64_t *value, bool set)
{
    if ((int)opt < ACL_OPT_DETERMINISTIC || (int)opt > ACL_OPT_ENABLE_KERNEL_EARLY_START) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "system parameter %d does not exist",
                         (int)opt);
    }
    if (set) {
        options[opt] = *value;
    } else {
        *value = options[opt];
    }
    return ACL_SUCCESS;
}

static aclError context_option(aclSysParamOpt opt, int64_t *value, bool set)
{
    aclError status;
    struct context *context = mock_usable_context(&status);
    return context == NULL ? status : option(context->options, opt, value, set);
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value)
{
    MOCK_GUARDED(context_option(opt, &value, true));
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t *value)
{
    if (value == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclrtCtxGetSysParamOpt: value is NULL");
    }
    MOCK_GUARDED(context_option(opt, value, false));
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value)
{
    MOCK_GUARDED(option(process_options, opt, &value, true));
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value)
{
    if (value == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetSysParamOpt: value is NULL");
    }
    MOCK_GUARDED(option(process_options, opt, value, false));
}
