/* SPDX-License-Identifier: Apache-2.0 */
/* What an address is. */
#include "place.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "device.h"
#include "pinned.h"
#include "violation.h"

enum mock_place mock_memory_place(int device_id, const void *address, int64_t distance,
                                  uint64_t bytes, struct mock_history *history)
{
    const struct device *device = mock_device_of(address);
    *history = (struct mock_history){0};
    if (device == NULL) {
        return MOCK_NOWHERE;
    }
    const struct allocation *block = mock_heap_find(&device->heap, address);
    const struct allocation *known = block == NULL ? mock_heap_freed(&device->heap, address) : block;
    if (known != NULL) {
        *history = known->history;
    }
    if (block == NULL) {
        return MOCK_NOWHERE;
    }
    if (device->id != device_id) {
        return MOCK_ELSEWHERE;
    }
    /* Below the block's start this is a huge number. */
    const uint64_t offset = (uint64_t)((const uint8_t *)address - device->heap.base) - block->offset +
                            (uint64_t)distance;
    /* The padding behind a block is for the cores, not for the program. */
    return offset <= block->requested && bytes <= block->requested - offset ? MOCK_INSIDE
                                                                            : MOCK_BEYOND;
}

void *mock_alias(const void *address)
{
    const struct device *device = mock_device_of(address);
    return device == NULL ? (void *)(uintptr_t)address
                          : device->heap.alias + ((const uint8_t *)address - device->heap.base);
}

void *mock_reach(const void *address, uint64_t bytes)
{
    const struct device *device = mock_device_of(address);
    if (device == NULL) {
        return (void *)(uintptr_t)address;
    }
    const uint64_t offset = (uint64_t)((const uint8_t *)address - device->heap.base);
    const struct allocation *block = mock_heap_find(&device->heap, address);
    if (block == NULL || bytes > block->size - (offset - block->offset)) {
        return NULL;
    }
    return device->heap.alias + offset;
}

/* Whether the process may read a byte, and write it. Of a range, both ends are looked at: what lies
 * between may be gone as well, but a wrong address is hardly ever right at both. */
static bool is_usable(const void *address, bool writing)
{
    uint8_t byte;
    const struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)address, 1};
    /* Where the system does not let anybody ask, EPERM or ENOSYS, nothing is known to be wrong. */
    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != 1) {
        return errno != EFAULT;
    }
    return !writing || process_vm_writev(getpid(), &here, 1, &there, 1, 0) == 1 || errno != EFAULT;
}

bool mock_is_live(const void *address, uint64_t bytes, bool writing)
{
    if (bytes == UINT64_MAX || mock_reach(address, bytes) == NULL) {
        return false;
    }
    const uint8_t *last = (const uint8_t *)address + bytes - 1;
    return mock_device_of(address) != NULL || mock_host_is_pinned(address, bytes) || bytes == 0 ||
           (is_usable(address, writing) && is_usable(last, writing));
}

void mock_report_dead_memory(const char *what, const void *address, uint64_t bytes)
{
    const struct device *device = mock_device_of(address);
    struct mock_history history = {0};
    if (device == NULL) {
        mock_violate(MOCK_HOST_MEMORY_INVALID, "address", address, NULL,
                     "%s is not %llu bytes of this process's memory", what,
                     (unsigned long long)bytes);
    } else if (mock_memory_place(device->id, address, 0, bytes, &history) == MOCK_BEYOND) {
        mock_violate(MOCK_COPY_OUT_OF_BOUNDS, "device memory", address, &history,
                     "%s is %llu bytes from this address on; its block has fewer", what,
                     (unsigned long long)bytes);
    } else {
        mock_violate(MOCK_ADDRESS_NOT_ON_DEVICE, "address", address, &history,
                     "%s is no live memory from aclrtMalloc", what);
    }
}

bool mock_is_pageable(const void *address, uint64_t bytes)
{
    return mock_device_of(address) == NULL && !mock_host_is_pinned(address, bytes);
}
