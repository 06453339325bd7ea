/* SPDX-License-Identifier: Apache-2.0 */
/* Registration of the program's functions for states of streams and devices, initialisation, and
 * aborted tasks. Source: CANN: runtime aclrt_impl/callback.cpp, callback_api.cpp. */
#include "error_message.h"
#include "named_callback.h"
#include "stream.h"

aclError aclrtRegStreamStateCallback(const char *regName, aclrtStreamStateCallback callback,
                                     void *args)
{
    return mock_named_callback_set(MOCK_ON_STREAM_STATE, regName, (mock_callback)callback, args);
}

aclError aclrtRegDeviceStateCallback(const char *regName, aclrtDeviceStateCallback callback,
                                     void *args)
{
    return mock_named_callback_set(MOCK_ON_DEVICE_STATE, regName, (mock_callback)callback, args);
}

aclError aclrtSetDeviceTaskAbortCallback(const char *regName,
                                         aclrtDeviceTaskAbortCallback callback, void *args)
{
    return mock_named_callback_set(MOCK_ON_TASK_ABORT, regName, (mock_callback)callback, args);
}

/* ---- initialisation ----------------------------------------------------------------------- */

static aclError check_type(aclRegisterCallbackType type)
{
    const bool known = ((int)type >= ACL_REG_TYPE_ACL_MODEL && type <= ACL_REG_TYPE_ACL_RETR) ||
                       type == ACL_REG_TYPE_OTHER;
    return known ? ACL_SUCCESS
                 : mock_fail(ACL_ERROR_INVALID_PARAM, "type is %d; it must be 0 to 7, or 65535",
                             (int)type);
}

static aclError add(enum mock_callback_list list, aclRegisterCallbackType type,
                    mock_callback function, void *data)
{
    const aclError status = check_type(type);
    return status != ACL_SUCCESS ? status
                                 : mock_callback_add(list, (uintptr_t)type, function, data);
}

static aclError drop(enum mock_callback_list list, aclRegisterCallbackType type,
                     mock_callback function)
{
    const aclError status = check_type(type);
    return status != ACL_SUCCESS ? status : mock_callback_remove(list, (uintptr_t)type, function);
}

aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc,
                                 void *userData)
{
    return add(MOCK_ON_INIT, type, (mock_callback)cbFunc, userData);
}

aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc)
{
    return drop(MOCK_ON_INIT, type, (mock_callback)cbFunc);
}

aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc,
                                     void *userData)
{
    return add(MOCK_ON_FINALIZE, type, (mock_callback)cbFunc, userData);
}

aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type,
                                       aclFinalizeCallbackFunc cbFunc)
{
    return drop(MOCK_ON_FINALIZE, type, (mock_callback)cbFunc);
}

/* ---- tasks of a device -------------------------------------------------------------------- */

struct abortion {
    int32_t device;
    aclrtDeviceTaskAbortStage stage;
    uint32_t timeout;
};

static int call_aborting(mock_callback function, void *data, const void *what)
{
    const struct abortion *abortion = what;
    return ((aclrtDeviceTaskAbortCallback)function)(abortion->device, abortion->stage,
                                                    abortion->timeout, data);
}

static aclError announce(int32_t device, aclrtDeviceTaskAbortStage stage, uint32_t timeout)
{
    const struct abortion abortion = {device, stage, timeout};
    return mock_callbacks_call(MOCK_ON_TASK_ABORT, UINTPTR_MAX, call_aborting, &abortion) == 0
               ? ACL_SUCCESS
               : mock_fail(ACL_ERROR_RT_INTERNAL_ERROR,
                           "a callback of aclrtSetDeviceTaskAbortCallback failed");
}

/* The queued tasks are dropped, as by aclrtStreamAbort of each stream; nothing takes time. */
aclError aclrtDeviceTaskAbort(int32_t id, uint32_t timeout)
{
    const struct device *device = mock_device_find(id);
    if (device == NULL) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    const aclError status = announce(id, ACL_RT_DEVICE_TASK_ABORT_PRE, timeout);
    if (status != ACL_SUCCESS) {
        return status;
    }
    for (struct stream *stream = mock_stream_first(); stream != NULL;
         stream = stream->next_created) {
        if (stream->context->device == device && mock_stream_drop(stream)) {
            mock_stream_fail(stream, ACL_ERROR_RT_DEVICE_TASK_ABORT,
                             "aclrtDeviceTaskAbort dropped work of stream %d", stream->id);
        }
    }
    return announce(id, ACL_RT_DEVICE_TASK_ABORT_POST, timeout);
}
