/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the host reaches at its device address. */
#include "managed_memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "error_message.h"

static struct managed *all;

static struct managed **link_to(const void *address)
{
    struct managed **link = &all;
    while (*link != NULL &&
           ((*link)->session != (*link)->device->session || (*link)->address != address)) {
        link = &(*link)->next;
    }
    return link;
}

void *mock_managed_new(struct device *device, uint64_t requested, uint64_t bytes)
{
    struct heap *heap = &device->heap;
    struct managed *managed = calloc(1, sizeof *managed);
    struct block *block =
        managed == NULL ? NULL : mock_heap_add_block(heap, bytes, requested, MOCK_MANAGED_PAGE);
    uint8_t *address = block == NULL ? NULL : heap->base + block->offset;
    if (block == NULL || mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                              device->heap.descriptor, (off_t)block->offset) == MAP_FAILED) {
        if (block != NULL) {
            mock_heap_remove_block(heap, block);
        }
        free(managed);
        return NULL;
    }
    *managed = (struct managed){.next = all, .device = device, .session = device->session,
                                .bytes = bytes, .address = address};
    all = managed;
    return address;
}

void mock_managed_end(const void *address)
{
    struct managed **link = link_to(address), *managed = *link;
    if (managed != NULL) {
        mmap(managed->address, managed->bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
        *link = managed->next;
        free(managed);
    }
}

struct managed *mock_managed_find(const void *address, uint64_t bytes, aclError *status)
{
    struct managed *managed = all;
    const uint8_t *start = address;
    while (managed != NULL &&
           (managed->session != managed->device->session || start < managed->address ||
            start >= managed->address + managed->bytes ||
            bytes > (uint64_t)(managed->address + managed->bytes - start))) {
        managed = managed->next;
    }
    *status = managed != NULL
                  ? ACL_SUCCESS
                  : mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                              "%p is not %llu bytes of memory of aclrtMemAllocManaged", address,
                              (unsigned long long)bytes);
    return managed;
}
