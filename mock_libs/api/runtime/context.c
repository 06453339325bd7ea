/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts: making, ending and choosing them, and their parameters. */
#include "entry.h"
#include "message.h"
#include "session.h"
#include "violation.h"

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
    if (!mock_context_destroy(context, false)) {
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

/* ---- overflow ---------------------------------------------------------------------------- */

static aclError set_overflow_mode(aclrtFloatOverflowMode mode)
{
    aclError status;
    if ((int)mode < ACL_RT_OVERFLOW_MODE_SATURATION || mode >= ACL_RT_OVERFLOW_MODE_UNDEF) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtSetDeviceSatMode: mode is %d",
                         (int)mode);
    }
    struct context *context = mock_usable_context(&status);
    if (context != NULL) {
        context->overflow_mode = mode;
    }
    return status;
}

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode)
{
    MOCK_GUARDED(set_overflow_mode(mode));
}

static aclError overflow_mode(aclrtFloatOverflowMode *mode)
{
    aclError status;
    const struct context *context = mock_usable_context(&status);
    if (context != NULL) {
        *mode = context->overflow_mode;
    }
    return status;
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode)
{
    if (mode == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetDeviceSatMode: mode is NULL");
    }
    MOCK_GUARDED(overflow_mode(mode));
}

/* ---- system parameters ------------------------------------------------------------------- */

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
    MOCK_GUARDED(option(mock_process_options(), opt, &value, true));
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value)
{
    if (value == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetSysParamOpt: value is NULL");
    }
    MOCK_GUARDED(option(mock_process_options(), opt, value, false));
}
