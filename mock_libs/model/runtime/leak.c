/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory that is left when a device closes. */
#include "leak.h"

#include "violation.h"

void mock_report_memory(struct device *device)
{
    if (device->lost || device->reported) {
        return;
    }
    for (size_t i = 0; i < device->heap.count; i++) {
        const struct allocation *block = &device->heap.items[i];
        mock_violate(MOCK_MEMORY_ALIVE_AT_RESET, "device memory", device->heap.base + block->offset,
                     &block->history, "these %llu bytes of device %d were not freed",
                     (unsigned long long)block->requested, device->id);
    }
}
