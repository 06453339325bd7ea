/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a device: one shared file, and the addresses reserved for it. */
#include "device_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "error_message.h"
#include "host_memory.h"
#include "python_process.h"
#include "remedy.h"
#include "share.h"

enum { LEAST_MEMORY = 64 << 20, PIECE = 2 << 20 };

/* A file beyond the process's limit would not be refused but be answered with a deadly signal. */
static bool resize(int descriptor, uint64_t bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes) {
        errno = EFBIG;
        return false;
    }
    return ftruncate(descriptor, (off_t)bytes) == 0;
}

/* Less than the chip's memory where the process may not have so much address space, of which the
 * rest of the program needs most. */
static uint64_t bytes_to_reserve(uint64_t wanted)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return wanted;
    }
    const uint64_t share = (uint64_t)limit.rlim_cur / 8 / PIECE * PIECE;
    return share < wanted ? share : wanted;
}

static bool reserve(struct heap *heap, int descriptor)
{
    heap->base = mmap(NULL, heap->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                      0);
    heap->alias = heap->base == MAP_FAILED
                      ? MAP_FAILED
                      : mmap(NULL, heap->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                             descriptor, 0);
    if (heap->alias != MAP_FAILED) {
        return true;
    }
    const int reason = errno;
    if (heap->base != MAP_FAILED) {
        munmap(heap->base, heap->bytes);
        heap->base = MAP_FAILED;
    }
    errno = reason;
    return false;
}

aclError mock_device_map_memory(struct device *device)
{
    struct heap *heap = &device->heap;
    heap->bytes = bytes_to_reserve(heap->bytes);
    const int made = memfd_create("pyaclnn-device", MFD_CLOEXEC);
    device->heap.descriptor = mock_descriptor_above(made);
    if (device->heap.descriptor < 0 || !resize(device->heap.descriptor, heap->bytes + MOCK_SHARES_BYTES)) {
        const int reason = errno;
        const char *call = made < 0 ? "memfd_create" : device->heap.descriptor < 0 ? "fcntl" : "ftruncate";
        return mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR, "device %d: no shared memory: %s",
                         device->id, mock_remedy(call, reason));
    }
    while (heap->bytes < LEAST_MEMORY || !reserve(heap, device->heap.descriptor)) {
        if (heap->bytes >= LEAST_MEMORY && errno != ENOMEM) {
            return mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR, "device %d: no address space: %s",
                             device->id, mock_remedy("mmap", errno));
        }
        if (heap->bytes < 2 * LEAST_MEMORY) {
            return mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR,
                             "device %d: twice %d MiB of address space cannot be reserved: raise "
                             "the limit (ulimit -v)",
                             device->id, LEAST_MEMORY >> 20);
        }
        heap->bytes = heap->bytes / 2 / PIECE * PIECE;
    }
    const struct mock_memory_limit host = mock_host_memory();
    if (host.bytes == 0) {
        return mock_fail(ACL_ERROR_RT_DEV_SETUP_ERROR,
                         "PYACLNN_MOCK_MEMORY is '%s'; it must be a number of MiB, 64 or more",
                         getenv("PYACLNN_MOCK_MEMORY"));
    }
    heap->limit = heap->bytes;
    device->limit_reason = heap->bytes < device->chip->memory_bytes
                               ? ", and the limit of address space (ulimit -v) allows no more"
                               : "";
    if (host.bytes < heap->limit) {
        heap->limit = host.bytes;
        device->limit_reason = host.reason;
    }
    mock_devices_add_range(heap->base, heap->bytes);
    return ACL_SUCCESS;
}
