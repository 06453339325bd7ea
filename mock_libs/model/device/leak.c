/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory that is left when a device closes. */
#include "leak.h"

#include "physical_memory.h"
#include "violation.h"

static void report(struct heap *heap, const struct block *block, void *data)
{
    const int *device = data;
    mock_violate(MOCK_MEMORY_ALIVE_AT_RESET, "device memory", heap->base + block->offset,
                 &block->history, "these %llu bytes of device %d were not freed",
                 (unsigned long long)block->requested, *device);
}

void mock_leak_report(struct device *device)
{
    if (device->lost || device->reported) {
        return;
    }
    mock_heap_visit(&device->heap, report, &device->id);
    for (const struct physical *physical = device->physicals; physical != NULL;
         physical = physical->next) {
        enum mock_mark mark;
        struct mock_history history;
        mock_handle_fate(physical->handle, MOCK_PHYSICAL, &mark, &history);
        mock_violate(MOCK_MEMORY_ALIVE_AT_RESET, "physical memory", physical->handle, &history,
                     "these %llu bytes of device %d were not freed",
                     (unsigned long long)physical->bytes, device->id);
    }
}
