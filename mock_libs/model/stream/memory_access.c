/* SPDX-License-Identifier: Apache-2.0 */
#include "memory_access.h"

#include "violation.h"

uint8_t mock_access_of(const struct mapping *mapping, const struct device *device)
{
    const uint8_t access = mapping->access[device->id];
    if ((access & MOCK_ACCESS_SET) != 0) {
        return (uint8_t)(access & ~MOCK_ACCESS_SET);
    }
    return mapping->physical->device == device ? ACL_RT_MEM_ACCESS_FLAGS_READWRITE
                                               : ACL_RT_MEM_ACCESS_FLAGS_NONE;
}

/* The mapping of a range that the device may not access, or NULL. */
static const struct mapping *access_error(const struct mock_range *range, const struct device *device)
{
    const uint8_t needed =
        range->written ? ACL_RT_MEM_ACCESS_FLAGS_READWRITE : ACL_RT_MEM_ACCESS_FLAGS_READ;
    const struct reservation *space = mock_space_of(range->address);
    if (space == NULL || range->bytes == 0) {
        return NULL;
    }
    const uint64_t start = (uint64_t)((const uint8_t *)range->address - space->base);
    uint64_t bytes = space->bytes - start < range->bytes ? space->bytes - start : range->bytes;
    const struct mapping *mapping;
    while (bytes > 0 && (mapping = mock_space_overlapping(space, start, bytes)) != NULL) {
        if ((mapping->access[device->id] & MOCK_ACCESS_SET) != 0 &&
            (mock_access_of(mapping, device) & needed) != needed) {
            return mapping;
        }
        bytes = mapping->block.offset > start ? mapping->block.offset - start : 0;
    }
    return NULL;
}

void mock_access_check(const struct stream *stream, const struct task *task)
{
    struct mock_range own[2];
    const struct mock_range *ranges;
    const struct device *device = stream->context->device;
    const size_t count = mock_spaces() == NULL ? 0 : mock_task_ranges(task, own, &ranges);
    for (size_t i = 0; i < count; i++) {
        const struct mapping *mapping = access_error(&ranges[i], device);
        if (mapping != NULL) {
            mock_violate(MOCK_ACCESS_DENIED, "mapped memory", ranges[i].address,
                         &mapping->block.history, "device %d %s it, which it may %s", device->id,
                         ranges[i].written ? "writes" : "reads",
                         mock_access_of(mapping, device) == 0 ? "not use" : "only read");
            return;
        }
    }
}
