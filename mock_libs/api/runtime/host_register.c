/* SPDX-License-Identifier: Apache-2.0 */
/* Registration of host memory for the device.
 * Source: CANN: runtime api_error.cc, api_impl.cc, aclrt_impl/memory.cpp. */
#include "address_query.h"
#include "address_space.h"
#include "context.h"
#include "error_message.h"
#include "hazard.h"
#include "pinned_memory.h"
#include "registered_memory.h"

enum {
    PAGE = 4096,
    IOMEMORY = 0x4, /* of both functions */
    READONLY = 0x8,
    MAPPED = 0x2,
    PINNED = 0x10000000
};

static aclError add(void *host, uint64_t size, uint32_t flags, struct registered **registered)
{
    aclError status;
    const struct context *context = mock_usable_context(&status);
    if (context == NULL) {
        return status;
    }
    const uint64_t bytes = (size + PAGE - 1) / PAGE * PAGE;
    if ((uintptr_t)host % PAGE != 0 || bytes < size ||
        mock_space_of(host) != NULL || mock_device_of(host) != NULL ||
        !mock_is_live(host, bytes, true)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "%p must be %llu bytes of the host's memory that begin on a page of %d "
                         "bytes",
                         host, (unsigned long long)size, PAGE);
    }
    if (mock_registered_find(host, bytes) != NULL || mock_pinned_meets(host, bytes)) {
        return mock_fail(ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
                         "a part of the %llu bytes at %p is pinned already",
                         (unsigned long long)bytes, host);
    }
    if ((flags & IOMEMORY) != 0) {
        return mock_fail(MOCK_NOT_IMPLEMENTED, "the simulated NPU has no memory of I/O devices");
    }
    *registered = mock_registered_new(context->device, host, bytes, flags != PINNED,
                                      (flags & READONLY) == 0);
    return *registered == NULL ? ACL_ERROR_RT_MEMORY_ALLOCATION : ACL_SUCCESS;
}

aclError aclrtHostRegister(void *ptr, uint64_t size, aclrtHostRegisterType type, void **devPtr)
{
    if (((uint32_t)type & ~(uint32_t)(IOMEMORY | READONLY)) != 0) {
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "type is %d; it must be 0, 4 or 8",
                         (int)type);
    }
    struct registered *registered;
    const aclError status = add(ptr, size, MAPPED | (uint32_t)type, &registered);
    if (status == ACL_SUCCESS) {
        *devPtr = mock_registered_device_address(registered, ptr);
    }
    return status;
}

aclError aclrtHostRegisterV2(void *ptr, uint64_t size, uint32_t flag)
{
    const uint32_t known = MAPPED | IOMEMORY | READONLY | PINNED;
    if (flag == 0 || (flag & ~known) != 0) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "flag is 0x%x; it must be an OR of 0x2, 0x4, 0x8 and 0x10000000", flag);
    }
    struct registered *registered;
    return add(ptr, size, flag, &registered);
}

aclError aclrtHostUnregister(void *ptr)
{
    struct registered *registered = mock_registered_find(ptr, 1);
    if (registered == NULL || registered->host != ptr) {
        return mock_fail(ACL_ERROR_HOST_MEMORY_NOT_REGISTERED,
                         "no host memory is registered from %p on", ptr);
    }
    mock_hazard_free(ptr, registered->bytes, MOCK_HOST_FREED_IN_FLIGHT);
    if (registered->number != 0) {
        mock_hazard_free(mock_registered_device_address(registered, ptr), registered->bytes,
                         MOCK_UNMAPPED_IN_USE);
    }
    mock_registered_end(registered);
    return ACL_SUCCESS;
}

aclError aclrtHostGetDevicePointer(void *pHost, void **pDevice, uint32_t flag)
{
    if (flag != 0) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "flag is 0x%x; it must be 0", flag);
    }
    const struct registered *registered = mock_registered_find(pHost, 1);
    if (registered == NULL || registered->number == 0) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is not in mapped host memory", pHost);
    }
    *pDevice = mock_registered_device_address(registered, pHost);
    return ACL_SUCCESS;
}
