/* SPDX-License-Identifier: Apache-2.0 */
/* Classification of addresses. */
#include "address_query.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "address_space.h"
#include "device.h"
#include "lock.h"
#include "pinned_memory.h"
#include "violation.h"

enum mock_address_class mock_address_classify(int device_id, const void *address, int64_t distance,
                                  uint64_t bytes, struct mock_history *history)
{
    const struct device *device = mock_device_of(address);
    *history = (struct mock_history){0};
    if (device == NULL) {
        return MOCK_NOT_LIVE;
    }
    struct block block;
    if (!mock_memory_find(device, address, &block)) {
        const struct block *freed = mock_heap_freed(&device->heap, address);
        if (freed != NULL) {
            *history = freed->history;
        }
        return MOCK_NOT_LIVE;
    }
    *history = block.history;
    if (device->id != device_id) {
        return MOCK_ON_OTHER_DEVICE;
    }
    const uint64_t offset = (uint64_t)((const uint8_t *)address - device->heap.base);
    if (mock_block_holds(&block, offset + (uint64_t)distance, bytes)) {
        return MOCK_IN_BLOCK;
    }
    block.requested = block.size;
    return mock_block_holds(&block, offset + (uint64_t)distance, bytes) ? MOCK_IN_PADDING
                                                                       : MOCK_OUT_OF_BLOCK;
}

void *mock_alias(const void *address, uint64_t bytes)
{
    struct device *device = mock_device_of(address);
    if (device == NULL) {
        return (void *)(uintptr_t)address;
    }
    const struct reservation *space = mock_space_of(address);
    const uint8_t *byte = address;
    if (space == NULL) {
        mock_heap_reach(&device->heap, address, bytes);
    }
    return space == NULL ? device->heap.alias + (byte - device->heap.base)
                         : space->alias + (byte - space->base);
}

/* Return whether a range of device memory lies inside one live allocation. */
static bool is_allocated(const struct device *device, const void *address, uint64_t bytes)
{
    const uint64_t offset = (uint64_t)((const uint8_t *)address - device->heap.base);
    struct block block;
    return mock_memory_find(device, address, &block) &&
           bytes <= block.size - (offset - block.offset);
}

void *mock_live_alias(const void *address, uint64_t bytes)
{
    const struct device *device = mock_device_of(address);
    return device == NULL || is_allocated(device, address, bytes) ? mock_alias(address, bytes)
                                                                   : NULL;
}

/* Return whether the process may read a byte, or write it: for kernels before Linux 5.14, which
 * cannot check a range. Memory between the ends of a range may be missing as well, but a wrong
 * address is rarely valid at both. */
static bool is_usable(const void *address, bool writing)
{
    uint8_t byte;
    const struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)address, 1};
    /* Where the system forbids the check (EPERM or ENOSYS), no error is known. */
    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != 1) {
        return errno != EFAULT;
    }
    return !writing || process_vm_writev(getpid(), &here, 1, &there, 1, 0) == 1 || errno != EFAULT;
}

/* Make pages accessible, as using them would: 0, or errno. */
static int populate(uintptr_t first, uintptr_t end, bool writing)
{
    enum { POPULATE_READ = 22, POPULATE_WRITE = 23 };
    return madvise((void *)first, end - first, writing ? POPULATE_WRITE : POPULATE_READ) == 0
               ? 0
               : errno;
}

/* Return whether the kernel populates pages, as it does one that is there; it is asked once. */
static bool can_populate(uintptr_t there, uintptr_t page)
{
    static int known; /* 1: it does, -1: it does not */
    int found = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (found == 0) {
        found = populate(there, there + page, false) == 0 ? 1 : -1;
        __atomic_store_n(&known, found, __ATOMIC_RELAXED);
    }
    return found > 0;
}

/* An inquiry about the area of memory that an address lies in (Linux 6.11; the headers may be older). */
struct area {
    uint64_t size, how, address, start, end, allows, page_size, offset, inode;
    uint32_t major, minor, name_size, build_id_size;
    uint64_t name, build_id;
};

/* Return whether a range is certainly readable, or writable. File mappings are not: the file may
 * have shrunk. */
static bool surely_there(uintptr_t first, uintptr_t end, bool writing)
{
    const int maps = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    bool sure = maps >= 0;
    while (sure && first < end) {
        struct area area = {.size = sizeof area, .address = first};
        sure = ioctl(maps, _IOWR('f', 17, struct area), &area) == 0 && area.inode == 0 &&
               (area.allows & (writing ? 2u : 1u)) != 0;
        first = area.end;
    }
    if (maps >= 0) {
        close(maps);
    }
    return sure;
}

/* Return whether the process may read, or write, every byte of a non-empty range. */
static bool is_there(const void *address, uint64_t bytes, bool writing)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)address;
    uintptr_t last;
    if (__builtin_add_overflow(start, bytes - 1, &last) || last >= UINTPTR_MAX - page) {
        return false;
    }
    /* Looking at so many pages costs as much as copying them. */
    enum { MANY = 128 };
    if (bytes > MANY * page && surely_there(start, last + 1, writing)) {
        return true;
    }
    if (!can_populate((uintptr_t)&last / page * page, page)) {
        return is_usable(address, writing) && is_usable((const void *)last, writing);
    }
    const int error = populate(start / page * page, last / page * page + page, writing);
    return error != ENOMEM && error != EFAULT && error != EINVAL;
}

bool mock_is_live(const void *address, uint64_t bytes, bool writing)
{
    if (bytes == UINT64_MAX) {
        return false;
    }
    const struct device *device = mock_device_of(address);
    if (device != NULL) {
        return is_allocated(device, address, bytes);
    }
    if (mock_pinned_find(address) != NULL) {
        return mock_host_is_pinned(address, bytes);
    }
    return bytes == 0 || is_there(address, bytes, writing);
}

bool mock_read_memory(const void *address, void *to, uint64_t bytes)
{
    const bool live = mock_is_live(address, bytes, false);
    if (live) {
        memcpy(to, mock_alias(address, bytes), bytes);
    }
    return live;
}

bool mock_write_memory(void *address, const void *from, uint64_t bytes)
{
    const bool live = mock_is_live(address, bytes, true);
    if (live) {
        memcpy(mock_alias(address, bytes), from, bytes);
    }
    return live;
}

static void report_beyond(const char *what, const char *kind, const void *address, uint64_t bytes,
                          const struct mock_history *history)
{
    mock_violate(MOCK_COPY_OUT_OF_BOUNDS, kind, address, history,
                 "%s is %llu bytes from this address on; its block has fewer", what,
                 (unsigned long long)bytes);
}

void mock_report_padding(const char *what, const void *address, uint64_t bytes)
{
    struct mock_history history;
    const struct device *device = mock_device_of(address);
    if (device != NULL &&
        mock_address_classify(device->id, address, 0, bytes, &history) == MOCK_IN_PADDING) {
        report_beyond(what, "device memory", address, bytes, &history);
    }
}

void mock_report_invalid_memory(const char *what, const void *address, uint64_t bytes)
{
    const struct device *device = mock_device_of(address);
    const struct block *pinned = mock_pinned_find(address);
    struct mock_history history = {0};
    if (pinned != NULL) {
        report_beyond(what, "pinned memory", address, bytes, &pinned->history);
    } else if (device == NULL && mock_space_of(address) == NULL) {
        mock_violate(MOCK_HOST_MEMORY_INVALID, "address", address, NULL,
                     "%s is not %llu bytes of this process's memory", what,
                     (unsigned long long)bytes);
    } else if (device != NULL &&
               mock_address_classify(device->id, address, 0, bytes, &history) == MOCK_OUT_OF_BLOCK) {
        report_beyond(what, "device memory", address, bytes, &history);
    } else {
        mock_violate(MOCK_ADDRESS_NOT_ON_DEVICE, "address", address, &history,
                     "%s is no live memory from aclrtMalloc or aclrtMapMem", what);
    }
}

bool mock_is_on_device(const char *what, const void *address, uint64_t bytes)
{
    const struct device *device = mock_device_of(address);
    if (device == NULL) {
        mock_violate(MOCK_ADDRESS_NOT_ON_DEVICE, "address", address, NULL, "%s is no device memory",
                     what);
        return false;
    }
    const bool live = is_allocated(device, address, bytes);
    if (!live) {
        mock_report_invalid_memory(what, address, bytes);
    }
    return live;
}

bool mock_is_device_address(const char *what, const void *address)
{
    struct mock_history history;
    if (!mock_devices_may_contain(address)) {
        return false;
    }
    mock_lock();
    const struct device *device = mock_device_of(address);
    const bool beyond = device != NULL || mock_space_of(address) != NULL;
    if (device != NULL) {
        mock_address_classify(device->id, address, 0, 0, &history);
        mock_violate(MOCK_DEVICE_ADDRESS_ON_HOST, "address", address, &history,
                     "%s is memory of device %d, which the host cannot reach", what, device->id);
    } else if (beyond) {
        mock_violate(MOCK_DEVICE_ADDRESS_ON_HOST, "address", address, NULL,
                     "%s is an address of aclrtReserveMemAddress, with nothing mapped to it", what);
    }
    mock_unlock();
    return beyond;
}

bool mock_is_pageable(const void *address, uint64_t bytes)
{
    return mock_device_of(address) == NULL && !mock_host_is_pinned(address, bytes);
}
