/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings of a kernel for the device process. */
#include "mappings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "address_space.h"

struct mapped_range {
    uint64_t address, bytes;
    uint64_t offset; /* in the file */
    uint64_t source; /* the file's number; 0: it is the device's own memory */
    uint64_t process, descriptor; /* that has the file open */
};

struct list {
    struct mapped_range *pieces;
    size_t count, capacity;
};

static uint64_t lists;

static bool add(struct list *list, const struct mapped_range *piece)
{
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
        struct mapped_range *larger = realloc(list->pieces, capacity * sizeof *larger);
        if (larger == NULL) {
            return false;
        }
        list->pieces = larger;
        list->capacity = capacity;
    }
    list->pieces[list->count++] = *piece;
    return true;
}

/* Add what is mapped from an address of a reservation on, as far as there is no gap. */
static bool add_range(struct list *list, const struct device *device,
                      const struct mock_range *range)
{
    const struct reservation *space = mock_space_of(range->address);
    if (space == NULL || space->device != device) {
        return true;
    }
    const uint64_t start = (uint64_t)((const uint8_t *)range->address - space->base);
    struct mapping *mapping = mock_space_mapping_at(space, start);
    for (uint64_t at = start; mapping != NULL && at - start < range->bytes;
         mapping = mock_space_mapping_at(space, at)) {
        const struct physical *physical = mapping->physical;
        const bool own = physical->source == 0;
        const struct mapped_range piece = {(uint64_t)(uintptr_t)space->base + mapping->block.offset,
                                    mapping->block.size, physical->offset + mapping->from,
                                    physical->source,
                                    own ? 0 : (uint64_t)getpid(),
                                    own ? 0 : (uint64_t)physical->descriptor};
        if (mapping->noted != lists && !add(list, &piece)) {
            return false;
        }
        mapping->noted = lists;
        at = mapping->block.offset + mapping->block.size;
    }
    return true;
}

static int compare(const void *one, const void *other)
{
    const uint64_t first = ((const struct mapped_range *)one)->address;
    const uint64_t second = ((const struct mapped_range *)other)->address;
    return first < second ? -1 : first > second;
}

/* Make one piece of those that follow each other both in the file and by address. */
static void join(struct list *list)
{
    size_t kept = 0;
    qsort(list->pieces, list->count, sizeof *list->pieces, compare);
    for (size_t i = 1; i < list->count; i++) {
        struct mapped_range *last = &list->pieces[kept];
        const struct mapped_range *next = &list->pieces[i];
        if (next->address == last->address + last->bytes &&
            next->offset == last->offset + last->bytes && next->source == last->source) {
            last->bytes += next->bytes;
        } else {
            list->pieces[++kept] = *next;
        }
    }
    list->count = kept + 1;
}

static void insert(struct mock_launch *kernel, const struct list *list)
{
    const size_t bytes = list->count * sizeof *list->pieces;
    const uint64_t count = list->count;
    uint8_t *longer = realloc(kernel->message, kernel->length + bytes);
    if (longer == NULL) {
        return;
    }
    uint8_t *place = longer + MOCK_PREFIX;
    memmove(place + bytes, place, kernel->length - MOCK_PREFIX);
    memcpy(place, list->pieces, bytes);
    memcpy(place - sizeof count, &count, sizeof count);
    kernel->message = longer;
    kernel->length += bytes;
}

void mock_mappings_add(const struct device *device, struct mock_launch *kernel)
{
    struct list list = {0};
    bool enough = true;
    lists++;
    for (size_t i = 0; i < kernel->range_count && enough; i++) {
        enough = add_range(&list, device, &kernel->ranges[i]);
    }
    if (enough && list.count > 0) {
        join(&list);
        insert(kernel, &list);
    }
    free(list.pieces);
}
