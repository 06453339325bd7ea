/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware faults of devices, of which the simulated NPU has none.
 * Source: CANN: runtime api_impl.cc, aclrt_impl/event.cpp. */
#include <string.h>

#include "device.h"
#include "error_message.h"

static aclError check(int32_t id, bool set)
{
    const struct device *device = mock_device_find(id);
    if (device == NULL) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    return !set || device->open
               ? ACL_SUCCESS
               : mock_fail(ACL_ERROR_RT_CONTEXT_NULL, "device %d is not set", id);
}

aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo *errorInfo)
{
    const aclError status = check(deviceId, false);
    if (status == ACL_SUCCESS) {
        memset(errorInfo, 0, sizeof *errorInfo);
    }
    return status;
}

aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo *errorInfo)
{
    const aclError status = check(deviceId, true);
    const int type = (int)errorInfo->errorType;
    if (status == ACL_SUCCESS &&
        (errorInfo->tryRepair == 0 || type < 0 || type > ACL_RT_ERROR_MEMORY)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "an error of type %d with tryRepair %u cannot be repaired; type must be 0 "
                         "or 1, and tryRepair not 0",
                         type, errorInfo->tryRepair);
    }
    return status;
}

aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize,
                            size_t *retSize)
{
    (void)memUceInfoArray;
    (void)arraySize;
    const aclError status = check(deviceId, true);
    if (status == ACL_SUCCESS) {
        *retSize = 0;
    }
    return status;
}

aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo *memUceInfoArray, size_t arraySize)
{
    (void)memUceInfoArray;
    (void)arraySize;
    return check(deviceId, true);
}
