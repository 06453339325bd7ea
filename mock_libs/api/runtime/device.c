/* SPDX-License-Identifier: Apache-2.0 */
/* Selection, reset, synchronization and description of devices. */
#include <string.h>
#include <unistd.h>

#include "capture.h"
#include "error_message.h"
#include "lifetime.h"
#include "named_callback.h"
#include "stream.h"
#include "stream_wait.h"
#include "timeout.h"
#include "violation.h"
#include "wire.h"

struct state {
    int32_t id;
    aclrtDeviceState state;
};

static int call_with_state(mock_callback function, void *data, const void *what)
{
    const struct state *state = what;
    ((aclrtDeviceStateCallback)function)(state->id, state->state, data);
    return 0;
}

static void announce(int32_t id, aclrtDeviceState which)
{
    const struct state state = {id, which};
    mock_callbacks_call(MOCK_ON_DEVICE_STATE, UINTPTR_MAX, call_with_state, &state);
}

static aclError set_device(int32_t id)
{
    struct device *device = mock_device_find(id);
    if (device == NULL) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    const aclError status = mock_device_open(device);
    if (status != ACL_SUCCESS) {
        return status;
    }
    if (device->primary == NULL) {
        device->primary = mock_context_new(device, true);
        if (device->primary == NULL) {
            mock_device_close_if_idle(device);
            return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "aclrtSetDevice: no host memory");
        }
    }
    device->references++;
    mock_set_current_context(device->primary);
    return ACL_SUCCESS;
}

aclError aclrtSetDevice(int32_t id)
{
    if (mock_device_find(id) == NULL) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    announce(id, ACL_RT_DEVICE_STATE_SET_PRE);
    const aclError status = set_device(id);
    if (status == ACL_SUCCESS) {
        announce(id, ACL_RT_DEVICE_STATE_SET_POST);
    }
    return status;
}

static aclError take_back(int32_t id, bool force)
{
    struct device *device = mock_device_find(id);
    if (device == NULL) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    const bool last = device->references == 1 || (force && device->references > 0);
    const aclError status = last ? mock_context_finish(device->primary->handle, force) : ACL_SUCCESS;
    if (status != ACL_SUCCESS) {
        return status;
    }
    if (device->references == 0) {
        mock_violate(MOCK_DEVICE_RESET_TOO_OFTEN, "device", NULL, NULL,
                     "device %d has no aclrtSetDevice left to take back", id);
        return mock_fail(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR,
                         "device %d is reset more often than it was set", id);
    }
    device->references = force ? 0 : device->references - 1;
    if (device->references == 0) {
        if (mock_current_context() == device->primary) {
            mock_set_current_context(NULL);
        }
        mock_context_destroy(device->primary);
        device->primary = NULL;
        mock_device_close_if_idle(device);
    }
    return ACL_SUCCESS;
}

static aclError reset_device(int32_t id, bool force)
{
    if (mock_device_find(id) == NULL) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    announce(id, ACL_RT_DEVICE_STATE_RESET_PRE);
    const aclError status = take_back(id, force);
    if (status == ACL_SUCCESS) {
        announce(id, ACL_RT_DEVICE_STATE_RESET_POST);
    }
    return status;
}

aclError aclrtResetDevice(int32_t deviceId)
{
    return reset_device(deviceId, false);
}

aclError aclrtResetDeviceForce(int32_t deviceId)
{
    return reset_device(deviceId, true);
}

aclError aclrtGetDevice(int32_t *id)
{
    const struct context *context = mock_current_context();
    if (context == NULL) {
        /* No text, and no last error: programs ask this way whether there is a context, and CANN
         * records nothing of that. */
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    *id = context->device->id;
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceCount(uint32_t *count)
{
    return mock_device_count(count);
}

const char *aclrtGetSocName(void)
{
    const struct chip *chip = mock_device_chip();
    return chip == NULL ? NULL : chip->soc_name;
}

aclError aclrtGetRunMode(aclrtRunMode *runMode)
{
    *runMode = ACL_HOST;
    return ACL_SUCCESS;
}

aclError aclrtSetTsDevice(aclrtTsId tsId)
{
    if ((int)tsId < ACL_TS_ID_AICORE || tsId >= ACL_TS_ID_RESERVED) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "aclrtSetTsDevice: tsId is %d", (int)tsId);
    }
    return ACL_SUCCESS;
}

static aclError synchronize_device(const struct timespec *deadline)
{
    aclError status;
    struct context *context = mock_usable_context(&status);
    if (context == NULL) {
        return status;
    }
    status = mock_capture_check_context_query(context);
    if (status != ACL_SUCCESS) {
        return status;
    }
    void *handle = context->handle;
    status = mock_context_wait(handle, deadline);
    if (status != ACL_SUCCESS) {
        return status;
    }
    context = mock_handle_get(handle, MOCK_CONTEXT);
    aclError first = ACL_SUCCESS;
    for (struct stream *stream = context == NULL ? NULL : context->streams; stream != NULL;
         stream = stream->next) {
        status = mock_stream_take_error(stream);
        first = first == ACL_SUCCESS ? status : first;
    }
    return first;
}

aclError aclrtSynchronizeDevice(void)
{
    return synchronize_device(NULL);
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout)
{
    struct timespec deadline;
    const struct timespec *limit;
    const aclError status = mock_limit(timeout, ACL_ERROR_RT_PARAM_INVALID, &deadline, &limit);
    if (status != ACL_SUCCESS) {
        return status;
    }
    return synchronize_device(limit);
}

aclError aclrtQueryDeviceStatus(int32_t id, aclrtDeviceStatus *status)
{
    struct device *device = mock_device_find(id);
    if (device == NULL) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    const bool dead = device->open && mock_device_alive(device) != ACL_SUCCESS;
    *status = dead ? ACL_RT_DEVICE_STATUS_ABNORMAL : ACL_RT_DEVICE_STATUS_NORMAL;
    return ACL_SUCCESS;
}

aclError aclGetDeviceCapability(uint32_t id, aclDeviceInfo info, int64_t *value)
{
    const struct chip *chip = mock_device_chip();
    if (mock_device_find((int32_t)id) == NULL || chip == NULL) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    switch (info) {
    case ACL_DEVICE_INFO_AI_CORE_NUM:
        *value = chip->ai_cores;
        return ACL_SUCCESS;
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
        *value = chip->vector_cores;
        return ACL_SUCCESS;
    case ACL_DEVICE_INFO_L2_SIZE:
        *value = chip->l2_bytes;
        return ACL_SUCCESS;
    default:
        return mock_fail(ACL_ERROR_INVALID_PARAM,
                         "aclGetDeviceCapability: the simulated NPU does not know deviceInfo %d",
                         (int)info);
    }
}

aclError aclrtGetDeviceUtilizationRate(int32_t id, aclrtUtilizationInfo *info)
{
    if (info->utilizationExtend != NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "utilizationExtend must be NULL");
    }
    if (mock_device_find(id) == NULL) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    /* -1 is CANN's value for "unknown". */
    info->cubeUtilization = info->vectorUtilization = -1;
    info->aicpuUtilization = info->memoryUtilization = -1;
    return ACL_SUCCESS;
}

aclError aclrtDeviceGetBareTgid(int32_t *pid)
{
    *pid = (int32_t)getpid();
    return ACL_SUCCESS;
}
