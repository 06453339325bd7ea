/* SPDX-License-Identifier: Apache-2.0 */
/* Map from numbers to pointers. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct capture_slot {
    uint64_t key;
    void *value; /* NULL: free */
};
struct capture_map {
    struct capture_slot *slots;
    size_t capacity, count;
};

void *capture_map_find(const struct capture_map *map, uint64_t key);
/* Put a value, or NULL for none, in the place of another. */
void capture_map_put(struct capture_map *map, uint64_t key, void *value);
