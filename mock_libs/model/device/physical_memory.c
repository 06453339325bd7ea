/* SPDX-License-Identifier: Apache-2.0 */
/* Physical memory: allocation and look-up. */
#include "physical_memory.h"

#include <stdlib.h>

#include "error_message.h"
#include "violation.h"

struct physical *mock_physical_foreign(struct device *device, uint64_t source, int file,
                                       uint64_t offset, uint64_t bytes)
{
    struct physical *physical = calloc(1, sizeof *physical);
    void *handle = physical == NULL ? NULL : mock_handle_new(MOCK_PHYSICAL, physical);
    if (handle == NULL) {
        free(physical);
        return NULL;
    }
    *physical = (struct physical){.handle = handle,
                                  .device = device,
                                  .next = device->physicals,
                                  .source = source,
                                  .descriptor = file,
                                  .offset = offset,
                                  .bytes = bytes};
    device->physicals = physical;
    return physical;
}

struct physical *mock_physical_new(struct device *device, uint64_t bytes)
{
    struct block *block = mock_heap_add_block(&device->heap, bytes, bytes, MOCK_GRANULE);
    if (block == NULL) {
        return NULL;
    }
    block->physical = true;
    struct physical *physical =
        mock_physical_foreign(device, 0, device->heap.descriptor, block->offset, bytes);
    if (physical == NULL) {
        mock_heap_remove_block(&device->heap, block);
    } else {
        physical->block = block;
    }
    return physical;
}

void mock_physical_free(struct physical *physical, bool used_elsewhere)
{
    struct physical **link = &physical->device->physicals;
    while (*link != physical) {
        link = &(*link)->next;
    }
    *link = physical->next;
    if (physical->block != NULL && !used_elsewhere) {
        mock_heap_remove_block(&physical->device->heap, physical->block);
    }
    mock_handle_close(physical->handle, MOCK_PHYSICAL);
    free(physical);
}

struct physical *mock_physical_find(aclrtDrvMemHandle handle, aclError *status)
{
    *status = ACL_SUCCESS;
    if (handle == NULL) {
        *status = mock_fail(ACL_ERROR_INVALID_PARAM, "the handle of physical memory is NULL");
        return NULL;
    }
    struct physical *physical = mock_handle_get(handle, MOCK_PHYSICAL);
    if (physical == NULL) {
        mock_violate_handle(handle, MOCK_PHYSICAL, false);
        *status = mock_fail(ACL_ERROR_RT_INVALID_HANDLE,
                            "%p is no live physical memory: it was freed, its device was reset, "
                            "or aclrtMallocPhysical never gave it",
                            handle);
        return NULL;
    }
    return physical;
}
