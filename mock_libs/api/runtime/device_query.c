/* SPDX-License-Identifier: Apache-2.0 */
/* Bus numbers, limits and capabilities of devices. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "acl/acl_platform.h"
#include "context.h"
#include "error_message.h"
#include "kernel.h"

/* ---- numbers of the bus, as npu-smi of the simulated NPU prints them ---------------------- */

static const char BUS[] = "0000:%02X:00.0";
enum { BUS_BYTES = 13, FIRST_BUS = 0xC1 };

aclError aclrtDeviceGetPCIBusId(int32_t id, char *pciBusId, int32_t len)
{
    if (mock_device_find(id) == NULL) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    if (len < BUS_BYTES) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "len is %d; the number takes %d bytes", len,
                         BUS_BYTES);
    }
    snprintf(pciBusId, (size_t)len, BUS, (unsigned)(FIRST_BUS + mock_device_physical_id(id)));
    return ACL_SUCCESS;
}

aclError aclrtDeviceGetByPCIBusId(const char *pciBusId, int32_t *id)
{
    char each[32];
    for (int32_t user = 0; mock_device_physical_id(user) >= 0; user++) {
        snprintf(each, sizeof each, BUS, (unsigned)(FIRST_BUS + mock_device_physical_id(user)));
        if (strcasecmp(each, pciBusId) == 0) {
            *id = user;
            return ACL_SUCCESS;
        }
    }
    return mock_fail(ACL_ERROR_RT_INVALID_DEVICEID, "no device has the bus number '%.64s'",
                     pciBusId);
}

/* ---- limits ------------------------------------------------------------------------------- */

static size_t limits[ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE + 1]; /* 0: not set */

static aclError check_limit(aclrtDeviceLimit limit)
{
    aclError status = ACL_SUCCESS;
    if ((int)limit < 0 || limit > ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "limit is %d; it must be 0 to 4", (int)limit);
    }
    mock_usable_context(&status);
    return status;
}

/* Kept and returned: kernels that were compiled for the host have the host's stack. */
aclError aclrtDeviceSetLimit(aclrtDeviceLimit limit, size_t value)
{
    const aclError status = check_limit(limit);
    if (status == ACL_SUCCESS) {
        limits[limit] = value;
    }
    return status;
}

aclError aclrtDeviceGetLimit(aclrtDeviceLimit limit, size_t *value)
{
    const aclError status = check_limit(limit);
    if (status == ACL_SUCCESS && limits[limit] == 0) {
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                         "limit %d has no value before aclrtDeviceSetLimit", (int)limit);
    }
    *value = status == ACL_SUCCESS ? limits[limit] : *value;
    return status;
}

aclError aclrtGetOpExecuteTimeout(uint32_t *const timeoutMs)
{
    *timeoutMs = (uint32_t)mock_kernel_limit_now();
    return ACL_SUCCESS;
}

/* 0 comes first. */
aclError aclrtDeviceGetStreamPriorityRange(int32_t *least, int32_t *greatest)
{
    enum { LOWEST = 7 };
    aclError status;
    if (mock_usable_context(&status) == NULL) {
        return status;
    }
    if (least != NULL) {
        *least = LOWEST;
    }
    if (greatest != NULL) {
        *greatest = 0;
    }
    return ACL_SUCCESS;
}

/* ---- capabilities ------------------------------------------------------------------------- */

aclError aclrtGetDeviceCapability(int32_t id, aclrtDevFeatureType feature, int32_t *value)
{
    if (mock_device_find(id) == NULL) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    if (feature != ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV &&
        feature != ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "devFeatureType is %d; it must be 1 or 21",
                         (int)feature);
    }
    *value = ACL_DEV_FEATURE_NOT_SUPPORT;
    return ACL_SUCCESS;
}

/* Nothing on the simulated NPU is atomic beyond its own device. */
static aclError no_atomics(uint32_t *capabilities, uint32_t count, int32_t id, int32_t other)
{
    if (mock_device_find(id) == NULL || mock_device_find(other) == NULL) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    memset(capabilities, 0, count * sizeof *capabilities);
    return ACL_SUCCESS;
}

aclError aclrtDeviceGetHostAtomicCapabilities(uint32_t *capabilities,
                                              const aclrtAtomicOperation *operations,
                                              const uint32_t count, int32_t deviceId)
{
    (void)operations;
    return no_atomics(capabilities, count, deviceId, deviceId);
}

aclError aclrtDeviceGetP2PAtomicCapabilities(uint32_t *capabilities,
                                             const aclrtAtomicOperation *operations,
                                             const uint32_t count, int32_t srcDeviceId,
                                             int32_t dstDeviceId)
{
    (void)operations;
    return no_atomics(capabilities, count, srcDeviceId, dstDeviceId);
}

/* Which parts of a device reach host memory that is registered as mapped: those that the simulated
 * NPU has. */
aclError aclrtHostMemMapCapabilities(uint32_t id, aclrtHacType hacType,
                                     aclrtHostMemMapCapability *capabilities)
{
    if (mock_device_find((int32_t)id) == NULL) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    if ((int)hacType < ACL_RT_HAC_TYPE_STARS || hacType > ACL_RT_HAC_TYPE_CCU) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "hacType is %d; it must be 0 to 9",
                         (int)hacType);
    }
    const bool reaches = hacType == ACL_RT_HAC_TYPE_AIC || hacType == ACL_RT_HAC_TYPE_AIV ||
                         hacType == ACL_RT_HAC_TYPE_SDMA || hacType == ACL_RT_HAC_TYPE_PCIEDMA;
    *capabilities = reaches ? ACL_RT_HOST_MEM_MAP_SUPPORTED : ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED;
    return ACL_SUCCESS;
}

aclError aclrtCheckArchCompatibility(const char *socVersion, int32_t *canCompatible)
{
    const struct chip *chip = mock_device_chip();
    const struct chip *other = mock_chip_named(socVersion);
    if (chip == NULL || other == NULL) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "socVersion '%.64s' is no known chip",
                         socVersion);
    }
    *canCompatible = strcmp(chip->family, other->family) == 0;
    return ACL_SUCCESS;
}

/* The caches of the simulated NPU are always coherent. */
aclError aclrtDeviceL2CacheFlush(void *rsv)
{
    aclError status = ACL_SUCCESS;
    if (rsv != NULL) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "rsv must be NULL");
    }
    mock_usable_context(&status);
    return status;
}

aclError aclplatformGetDeviceInfo(aclplatformDevInfo info, char *value, uint32_t maxLen)
{
    const struct chip *chip = mock_device_chip();
    char text[64] = "";
    if (chip == NULL) {
        return ACL_ERROR_INTERNAL_ERROR;
    }
    switch ((int)info) {
    case ACL_PLATFORM_AICORE_CNT:
    case ACL_PLATFORM_CUBE_CORE_CNT:
        snprintf(text, sizeof text, "%d", chip->ai_cores);
        break;
    case ACL_PLATFORM_VECTOR_CORE_CNT:
        snprintf(text, sizeof text, "%d", chip->vector_cores);
        break;
    case ACL_PLATFORM_L2_SIZE:
        snprintf(text, sizeof text, "%lld", (long long)chip->l2_bytes);
        break;
    case ACL_PLATFORM_MEMORY_SIZE:
        snprintf(text, sizeof text, "%llu", (unsigned long long)chip->memory_bytes);
        break;
    case ACL_PLATFORM_SOC_VERSION:
        snprintf(text, sizeof text, "%s", chip->soc_name);
        break;
    default:
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                         "the simulated NPU does not know infoType %d: it knows numbers of cores, "
                         "sizes of memory and of the L2 cache, and the chip's name",
                         (int)info);
    }
    if (strlen(text) >= maxLen) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "maxLen is %u; the value takes %zu bytes",
                         maxLen, strlen(text) + 1);
    }
    memcpy(value, text, strlen(text) + 1);
    return ACL_SUCCESS;
}
