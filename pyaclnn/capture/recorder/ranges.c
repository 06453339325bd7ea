/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of addresses in their order, none of which overlaps another. */
#include "ranges.h"

#include <string.h>

#include "bytes.h"

size_t capture_range_from(const struct capture_ranges *ranges, uint64_t address)
{
    size_t low = 0, high = ranges->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ranges->list[middle].end > address) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

bool capture_add_range(struct capture_ranges *ranges, uint64_t begin, uint64_t end, void *of)
{
    if (ranges->count == ranges->capacity) {
        const size_t capacity = ranges->capacity * 2 + 64;
        struct capture_range *larger =
            capture_memory(ranges->list, capacity * sizeof *ranges->list);
        if (larger == NULL) {
            return false;
        }
        ranges->list = larger;
        ranges->capacity = capacity;
    }
    struct capture_range *at = &ranges->list[capture_range_from(ranges, begin)];
    memmove(at + 1, at, (size_t)(ranges->list + ranges->count++ - at) * sizeof *at);
    *at = (struct capture_range){begin, end, of};
    return true;
}

void capture_remove_ranges(struct capture_ranges *ranges, size_t at, size_t count)
{
    if (count != 0) {
        ranges->count -= count;
        memmove(ranges->list + at, ranges->list + at + count,
                (ranges->count - at) * sizeof *ranges->list);
    }
}
