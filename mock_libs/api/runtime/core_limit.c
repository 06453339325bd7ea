/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of the cores that a device, a stream or a thread may use: kept and returned. Kernels of the
 * simulated NPU use no cores. Source: CANN: runtime api_impl.cc. */
#include "error_message.h"
#include "stream.h"

enum { KINDS = ACL_RT_DEV_RES_VECTOR_CORE + 1 };

static uint32_t of_device[MOCK_MAX_DEVICES][KINDS]; /* 0: not set */
static _Thread_local void *used; /* the stream whose limits the thread has */

static aclError check(aclrtDevResLimitType type, uint32_t value)
{
    const struct chip *chip = mock_device_chip();
    if (chip == NULL) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    if ((int)type < 0 || (int)type >= KINDS) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "type is %d; it must be 0, cube cores, or 1, vector cores", (int)type);
    }
    const int most = type == ACL_RT_DEV_RES_CUBE_CORE ? chip->ai_cores : chip->vector_cores;
    if (value > (uint32_t)most) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "value is %u; the chip has %d of these cores",
                         value, most);
    }
    return ACL_SUCCESS;
}

static uint32_t limit_of(const struct device *device, aclrtDevResLimitType type)
{
    const uint32_t set = of_device[device->id][type];
    const struct chip *chip = mock_device_chip();
    const int all = type == ACL_RT_DEV_RES_CUBE_CORE ? chip->ai_cores : chip->vector_cores;
    return set != 0 ? set : (uint32_t)all;
}

/* The device, which must have been set, or NULL with the code. */
static struct device *open_device(int32_t id, aclError *status)
{
    struct device *device = mock_device_find(id);
    if (device == NULL) {
        *status = ACL_ERROR_RT_INVALID_DEVICEID;
    } else if (!device->open) {
        *status = mock_fail(ACL_ERROR_RT_CONTEXT_NULL, "device %d is not set", id);
        device = NULL;
    }
    return device;
}

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value)
{
    aclError status = check(type, value);
    const struct device *device = status == ACL_SUCCESS ? open_device(deviceId, &status) : NULL;
    if (device != NULL) {
        of_device[device->id][type] = value;
    }
    return status;
}

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t *value)
{
    aclError status = check(type, 0);
    const struct device *device = status == ACL_SUCCESS ? open_device(deviceId, &status) : NULL;
    if (device != NULL) {
        *value = limit_of(device, type);
    }
    return status;
}

aclError aclrtResetDeviceResLimit(int32_t deviceId)
{
    aclError status = ACL_SUCCESS;
    const struct device *device = open_device(deviceId, &status);
    for (int type = 0; device != NULL && type < KINDS; type++) {
        of_device[device->id][type] = 0;
    }
    return status;
}

aclError aclrtSetStreamResLimit(aclrtStream handle, aclrtDevResLimitType type, uint32_t value)
{
    aclError status = check(type, value);
    struct stream *stream = status == ACL_SUCCESS ? mock_stream_find(handle, false, &status) : NULL;
    if (stream != NULL) {
        stream->core_limits[type] = value;
    }
    return status;
}

aclError aclrtGetStreamResLimit(aclrtStream handle, aclrtDevResLimitType type, uint32_t *value)
{
    aclError status = check(type, 0);
    struct stream *stream = status == ACL_SUCCESS ? mock_stream_find(handle, false, &status) : NULL;
    if (stream != NULL) {
        const uint32_t set = stream->core_limits[type];
        *value = set != 0 ? set : limit_of(stream->context->device, type);
    }
    return status;
}

aclError aclrtResetStreamResLimit(aclrtStream handle)
{
    aclError status;
    struct stream *stream = mock_stream_find(handle, false, &status);
    for (int type = 0; stream != NULL && type < KINDS; type++) {
        stream->core_limits[type] = 0;
    }
    return status;
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream handle)
{
    aclError status;
    const struct stream *stream = mock_stream_find(handle, false, &status);
    used = stream == NULL ? used : stream->handle;
    return status;
}

aclError aclrtUnuseStreamResInCurrentThread(aclrtStream handle)
{
    aclError status;
    if (mock_stream_find(handle, false, &status) != NULL) {
        used = NULL;
    }
    return status;
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t *value)
{
    aclError status = check(type, 0);
    const struct context *context = status == ACL_SUCCESS ? mock_usable_context(&status) : NULL;
    if (context == NULL) {
        return status;
    }
    const struct stream *stream = used == NULL ? NULL : mock_handle_get(used, MOCK_STREAM);
    const uint32_t set = stream == NULL ? 0 : stream->core_limits[type];
    *value = set != 0 ? set : limit_of(context->device, type);
    return ACL_SUCCESS;
}
