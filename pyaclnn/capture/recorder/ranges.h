/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of addresses in their order, none of which overlaps another. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture_ranges {
    struct capture_range {
        uint64_t begin, end;
        void *of;
    } *list;
    size_t count, capacity;
};

/* The first range that ends behind an address, or their number. */
size_t capture_range_from(const struct capture_ranges *ranges, uint64_t address);
/* Add a range that overlaps none; false: there is no memory. */
bool capture_add_range(struct capture_ranges *ranges, uint64_t begin, uint64_t end, void *of);
void capture_remove_ranges(struct capture_ranges *ranges, size_t at, size_t count);
