/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation, freeing, flushing and usage of device memory. */
#include <string.h>

#include "address_query.h"
#include "address_space.h"
#include "error_message.h"
#include "hazard.h"
#include "managed_memory.h"
#include "pooled_memory.h"
#include "share.h"
#include "stream_wait.h"
#include "violation.h"

/* CANN pads allocations, so that kernels may read past the end: all but the 32-aligned kind, and
 * none on the 950. */
static size_t padding_of(const struct device *device, bool padded)
{
    return padded && strcmp(device->chip->family, "950") != 0 ? 32 : 0;
}

static aclError allocate(void **address, size_t size, bool padded)
{
    aclError status;
    const struct context *context = mock_usable_context(&status);
    if (context == NULL) {
        return status;
    }
    struct device *device = context->device;
    const uint64_t rounded = (size + 31) / 32 * 32 + padding_of(device, padded);
    if (rounded < size || !mock_heap_allocate(&device->heap, rounded, size, address)) {
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                         "device %d has no %zu bytes left: %llu of %llu are in use%s", device->id,
                         size, (unsigned long long)device->heap.used,
                         (unsigned long long)device->heap.limit,
                         device->limit_reason);
    }
    return ACL_SUCCESS;
}

aclError aclrtMalloc(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    (void)policy;
    return allocate(devPtr, size, true);
}

aclError aclrtMallocAlign32(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    (void)policy;
    return allocate(devPtr, size, false);
}

aclError aclrtMallocCached(void **devPtr, size_t size, aclrtMemMallocPolicy policy)
{
    (void)policy;
    return allocate(devPtr, size, true);
}

aclError aclrtMallocWithCfg(void **devPtr, size_t size, aclrtMemMallocPolicy policy,
                            aclrtMallocConfig *cfg)
{
    (void)policy;
    (void)cfg;
    return allocate(devPtr, size, true);
}

aclError aclrtMallocForTaskScheduler(void **devPtr, size_t size, aclrtMemMallocPolicy policy,
                                     aclrtMallocConfig *cfg)
{
    (void)policy;
    (void)cfg;
    return allocate(devPtr, size, true);
}

static void report_free(const struct device *device, const void *address,
                        const struct block *block)
{
    const struct block *known = block;
    const struct reservation *space = mock_space_of(address);
    if (device != NULL && block == NULL) {
        known = mock_heap_freed(&device->heap, address);
    }
    if (known != NULL && block == NULL && device->heap.base + known->offset == (const uint8_t *)address) {
        mock_violate(MOCK_MEMORY_FREED_TWICE, "device memory", address, &known->history,
                     "this block of %llu bytes was freed before",
                     (unsigned long long)known->requested);
        return;
    }
    mock_violate(MOCK_MEMORY_NOT_ALLOCATED, "memory", address,
                 known == NULL ? NULL : &known->history, "%s",
                 block != NULL    ? "the address lies inside of a block; free its start"
                 : space != NULL && space->number != 0
                     ? "this memory was imported: aclrtIpcMemClose gives it back"
                 : space != NULL
                     ? "this address is one of aclrtReserveMemAddress: aclrtReleaseMemAddress "
                       "gives it back"
                 : device == NULL ? "this is no device memory"
                                  : "there is no block at this address");
}

/* Return whether another process has imported a part of a block that is freed now. */
static bool end_share(const struct device *device, const struct block *block)
{
    const bool used = mock_share_end(device, block->offset, block->size);
    if (used) {
        mock_violate(MOCK_MEMORY_FREED_WHILE_IMPORTED, "device memory",
                     device->heap.base + block->offset, &block->history,
                     "a process has imported these %llu bytes, and has not closed the key",
                     (unsigned long long)block->requested);
    }
    return used;
}

/* Free at once, whatever is queued: using freed memory then reads poison. */
static aclError release(void *address)
{
    struct device *device = mock_device_of(address);
    const struct block *block = device == NULL ? NULL : mock_heap_find(&device->heap, address);
    if (block != NULL) {
        mock_hazard_free(address, block->size, MOCK_MEMORY_FREED_IN_USE);
    }
    if (block != NULL && device->heap.base + block->offset == address && end_share(device, block)) {
        mock_heap_detach(&device->heap, address);
        return ACL_SUCCESS;
    }
    if (block != NULL && device->heap.base + block->offset == address) {
        mock_managed_end(address);
        mock_pooled_end(address);
    }
    if (device == NULL || !mock_heap_free(&device->heap, address)) {
        report_free(device, address, block);
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "%p is not the start of live device memory: it was freed before, or did "
                         "not come from aclrtMalloc",
                         address);
    }
    return ACL_SUCCESS;
}

aclError aclrtFree(void *devPtr)
{
    return release(devPtr);
}

/* Whose memory it is may have changed meanwhile: looked at again. */
aclError aclrtFreeWithDevSync(void *address)
{
    const struct device *device = mock_device_of(address);
    const aclError status = device == NULL ? ACL_SUCCESS : mock_device_drain(device);
    return status != ACL_SUCCESS ? status : release(address);
}

/* The caches of the simulated NPU are always coherent; only the range is checked. */
static aclError check_range(const void *address, size_t size)
{
    if (mock_device_of(address) == NULL || mock_live_alias(address, size) == NULL) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is not %zu bytes of live device memory",
                         address, size);
    }
    return ACL_SUCCESS;
}

aclError aclrtMemFlush(void *devPtr, size_t size)
{
    return check_range(devPtr, size);
}

aclError aclrtMemInvalidate(void *devPtr, size_t size)
{
    return check_range(devPtr, size);
}

/* ---- asking ------------------------------------------------------------------------------ */

aclError aclrtMemGetAddressRange(void *address, void **start, size_t *size)
{
    const struct device *device = mock_device_of(address);
    struct block block;
    if (device == NULL || !mock_memory_find(device, address, &block)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is not in live device memory", address);
    }
    *start = device->heap.base + block.offset;
    *size = block.requested;
    return ACL_SUCCESS;
}

static bool is_hbm(aclrtMemAttr attr)
{
    return attr == ACL_HBM_MEM || (attr >= ACL_HBM_MEM_HUGE && attr <= ACL_HBM_MEM_NORMAL) ||
           (attr >= ACL_HBM_MEM_P2P_HUGE && attr <= ACL_HBM_MEM_P2P_HUGE1G);
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free_bytes, size_t *total)
{
    aclError status;
    const struct context *context = mock_usable_context(&status);
    if (context == NULL) {
        return status;
    }
    /* Asked for memory it does not have, CANN answers 0 with success; a chip without HBM answers
     * a question for HBM with its DDR. */
    const char *family = context->device->chip->family;
    const bool ddr_only = strncmp(family, "310", 3) == 0;
    const struct heap *heap = &context->device->heap;
    const bool known = is_hbm(attr) || ddr_only;
    *total = known ? heap->limit : 0;
    *free_bytes = known ? heap->limit - heap->used : 0;
    return ACL_SUCCESS;
}
