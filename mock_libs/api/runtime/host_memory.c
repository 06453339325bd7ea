/* SPDX-License-Identifier: Apache-2.0 */
/* Pinned host memory, and attributes of pointers. */
#include <string.h>

#include "address_space.h"
#include "context.h"
#include "error_message.h"
#include "hazard.h"
#include "pinned_memory.h"
#include "stream_wait.h"
#include "violation.h"

static aclError allocate_host(void **address, size_t size)
{
    /* The driver gives it: a context that a failure has stopped takes no part in that. */
    if (mock_context_or_violation() == NULL) {
        return mock_fail(ACL_ERROR_RT_CONTEXT_NULL, "this thread has no current context");
    }
    void *memory = mock_pinned_allocate(size);
    if (memory == NULL) {
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no %zu bytes of host memory", size);
    }
    *address = memory;
    return ACL_SUCCESS;
}

aclError aclrtMallocHost(void **hostPtr, size_t size)
{
    return allocate_host(hostPtr, size);
}

aclError aclrtMallocHostWithCfg(void **ptr, uint64_t size, aclrtMallocConfig *cfg)
{
    (void)cfg;
    return allocate_host(ptr, size);
}

static void report_free(const void *address)
{
    const struct block *freed = mock_pinned_freed(address);
    if (freed != NULL) {
        mock_violate(MOCK_MEMORY_FREED_TWICE, "pinned memory", address, &freed->history,
                     "this block of %llu bytes was freed before",
                     (unsigned long long)freed->requested);
    } else {
        mock_violate(MOCK_MEMORY_NOT_ALLOCATED, "memory", address, NULL,
                     "no block from aclrtMallocHost starts here");
    }
}

static aclError release(void *address)
{
    const struct block *block = mock_pinned_find(address);
    if (block == NULL || block->offset != (uint64_t)(uintptr_t)address || block->physical) {
        report_free(address);
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "%p is not live memory from aclrtMallocHost%s", address,
                         mock_device_of(address) == NULL ? "" : " but device memory");
    }
    mock_hazard_free(address, block->size, MOCK_HOST_FREED_IN_FLIGHT);
    mock_pinned_free(address);
    return ACL_SUCCESS;
}

aclError aclrtFreeHost(void *hostPtr)
{
    return release(hostPtr);
}

/* A copy of any device may be reading it. */
aclError aclrtFreeHostWithDevSync(void *address)
{
    const aclError status = mock_device_drain(NULL);
    return status != ACL_SUCCESS ? status : release(address);
}

aclError aclrtPointerGetAttributes(const void *address, aclrtPtrAttributes *attributes)
{
    const struct device *device = mock_device_of(address);
    memset(attributes, 0, sizeof *attributes);
    attributes->pageSize = 4096;
    if (device != NULL) {
        attributes->location.id = (uint32_t)device->id;
        attributes->location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    } else {
        attributes->location.type = mock_host_is_pinned(address, 1)
                                        ? ACL_MEM_LOCATION_TYPE_HOST
                                        : ACL_MEM_LOCATION_TYPE_UNREGISTERED;
    }
    return ACL_SUCCESS;
}
