/* SPDX-License-Identifier: Apache-2.0 */
/* Map from numbers to pointers: open addressing, a power of two of slots. */
#include "map.h"

#include <stdlib.h>

static size_t place_of(const struct capture_map *map, uint64_t key)
{
    size_t place = (size_t)((key * 0x9E3779B185EBCA87U) >> 32) & (map->capacity - 1);
    while (map->slots[place].value != NULL && map->slots[place].key != key) {
        place = (place + 1) & (map->capacity - 1);
    }
    return place;
}

void *capture_map_find(const struct capture_map *map, uint64_t key)
{
    return map->capacity == 0 ? NULL : map->slots[place_of(map, key)].value;
}

static void grow(struct capture_map *map)
{
    struct capture_map larger = {.capacity = map->capacity == 0 ? 256 : 2 * map->capacity};
    larger.slots = calloc(larger.capacity, sizeof larger.slots[0]);
    if (larger.slots == NULL) {
        abort();
    }
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->slots[i].value != NULL) {
            larger.slots[place_of(&larger, map->slots[i].key)] = map->slots[i];
            larger.count++;
        }
    }
    free(map->slots);
    *map = larger;
}

/* Close the hole that a slot leaves: move back what could not have its own place. */
static void close_hole(struct capture_map *map, size_t hole)
{
    for (size_t at = (hole + 1) & (map->capacity - 1); map->slots[at].value != NULL;
         at = (at + 1) & (map->capacity - 1)) {
        const struct capture_slot moved = map->slots[at];
        map->slots[at].value = NULL;
        map->slots[place_of(map, moved.key)] = moved;
    }
}

void capture_map_put(struct capture_map *map, uint64_t key, void *value)
{
    if (value != NULL && 2 * (map->count + 1) > map->capacity) {
        grow(map);
    }
    if (map->capacity == 0) {
        return;
    }
    const size_t place = place_of(map, key);
    struct capture_slot *slot = &map->slots[place];
    map->count += (size_t)(value != NULL) - (size_t)(slot->value != NULL);
    const int emptied = slot->value != NULL && value == NULL;
    *slot = (struct capture_slot){key, value};
    if (emptied) {
        close_hole(map, place);
    }
}
