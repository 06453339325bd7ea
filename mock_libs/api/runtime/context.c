/* SPDX-License-Identifier: Apache-2.0 */
/* Creation, destruction and selection of contexts, and their parameters. */
#include "error_message.h"
#include "lifetime.h"
#include "violation.h"

aclError aclrtCreateContext(aclrtContext *handle, int32_t id)
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

aclError aclrtDestroyContext(aclrtContext handle)
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
    const aclError status = mock_context_finish(handle, false);
    if (status != ACL_SUCCESS) {
        return status;
    }
    if (mock_handle_get(handle, MOCK_CONTEXT) != context) {
        return mock_fail(ACL_ERROR_RT_CONTEXT_NULL,
                         "aclrtDestroyContext: another thread destroyed %p meanwhile", handle);
    }
    mock_context_destroy(context);
    device->contexts--;
    mock_device_close_if_idle(device);
    return ACL_SUCCESS;
}

aclError aclrtSetCurrentContext(aclrtContext handle)
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

aclError aclrtGetCurrentContext(aclrtContext *handle)
{
    const struct context *context = mock_current_context();
    if (context == NULL) {
        return mock_fail(ACL_ERROR_RT_CONTEXT_NULL, "this thread has no current context");
    }
    *handle = context->handle;
    return ACL_SUCCESS;
}

/* ---- overflow ---------------------------------------------------------------------------- */

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode)
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

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode *mode)
{
    aclError status;
    const struct context *context = mock_usable_context(&status);
    if (context != NULL) {
        *mode = context->overflow_mode;
    }
    return status;
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
    return context_option(opt, &value, true);
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t *value)
{
    return context_option(opt, value, false);
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value)
{
    return option(mock_process_options(), opt, &value, true);
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t *value)
{
    return option(mock_process_options(), opt, value, false);
}
