/* SPDX-License-Identifier: Apache-2.0 */
/* Reserved addresses, and what is mapped to them. */
#include "address_space.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "share.h"

enum { RESERVED = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };
enum { PAGE = 64 << 10 }; /* the largest of any machine this runs on */

/* Room at a multiple of an alignment, or NULL. */
static uint8_t *make_room(uint64_t bytes, uint64_t alignment, void *hint)
{
    uint8_t *start = mmap(hint, bytes + alignment, PROT_NONE, RESERVED, -1, 0);
    if (start == MAP_FAILED) {
        return NULL;
    }
    const uint64_t head = (alignment - (uintptr_t)start % alignment) % alignment;
    if (head > 0) {
        munmap(start, head);
    }
    munmap(start + head + bytes, alignment - head);
    return start + head;
}

static struct reservation *spaces;

struct reservation *mock_spaces(void)
{
    return spaces;
}

struct reservation *mock_space_reserve(uint64_t bytes, uint64_t alignment, void *hint)
{
    struct reservation *space = calloc(1, sizeof *space);
    uint8_t *base = space == NULL ? NULL : make_room(bytes, alignment, hint);
    uint8_t *alias = base == NULL ? NULL : make_room(bytes, alignment, NULL);
    if (alias == NULL) {
        const int error = errno;
        if (base != NULL) {
            munmap(base, bytes);
        }
        free(space);
        errno = error;
        return NULL;
    }
    *space = (struct reservation){.base = base,
                                  .alias = alias,
                                  .bytes = bytes,
                                  .history = {.created = mock_origin_current()},
                                  .next = spaces};
    spaces = space;
    mock_devices_add_range(base, bytes);
    return space;
}

void mock_space_release(struct reservation *space)
{
    struct reservation **link = &spaces;
    while (*link != space) {
        link = &(*link)->next;
    }
    *link = space->next;
    munmap(space->base, space->bytes);
    munmap(space->alias, space->bytes);
    free(space);
}

struct reservation *mock_space_of(const void *address)
{
    struct reservation *space = spaces;
    while (space != NULL &&
           (uint64_t)((const uint8_t *)address - space->base) >= space->bytes) {
        space = space->next;
    }
    return space;
}

/* ---- mappings ----------------------------------------------------------------------------- */

int mock_space_map(struct reservation *space, uint64_t offset, struct physical *physical,
                   uint64_t from, uint64_t bytes)
{
    struct mapping *mapping = calloc(1, sizeof *mapping);
    if (mapping == NULL || mmap(space->alias + offset, bytes, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_FIXED | MAP_NORESERVE, physical->descriptor,
                                (off_t)(physical->offset + from)) == MAP_FAILED) {
        const int error = mapping == NULL ? ENOMEM : errno;
        free(mapping);
        return error;
    }
    mapping->block = (struct block){.offset = offset,
                                    .size = bytes,
                                    .requested = bytes,
                                    .history = {.created = mock_origin_current()}};
    mapping->physical = physical;
    mapping->from = from;
    physical->mapped++;
    space->device = physical->device;
    mock_blocks_add(&space->mappings, &mapping->block);
    return 0;
}

void mock_space_unmap(struct reservation *space, struct mapping *mapping)
{
    mmap(space->alias + mapping->block.offset, mapping->block.size, PROT_NONE,
         RESERVED | MAP_FIXED, -1, 0);
    mock_blocks_remove(&space->mappings, &mapping->block);
    mapping->physical->mapped--;
    free(mapping);
}

static struct block *holding(const struct reservation *space, uint64_t offset)
{
    struct block *block = mock_blocks_find(&space->mappings, offset);
    return block != NULL && offset - block->offset < block->size ? block : NULL;
}

struct mapping *mock_space_mapping_at(const struct reservation *space, uint64_t offset)
{
    return (struct mapping *)holding(space, offset);
}

struct mapping *mock_space_overlapping(const struct reservation *space, uint64_t offset,
                                   uint64_t bytes)
{
    struct block *last = mock_blocks_find(&space->mappings, offset + bytes - 1);
    return (struct mapping *)(last != NULL && last->offset + last->size > offset ? last : NULL);
}

struct device *mock_device_of(const void *address)
{
    const struct reservation *space = mock_space_of(address);
    struct device *device = space == NULL ? mock_device_by_heap_address(address) : space->device;
    return device != NULL && device->open ? device : NULL;
}

bool mock_memory_find(const struct device *device, const void *address, struct block *found)
{
    const struct reservation *space = mock_space_of(address);
    if (space != NULL && space->device != device) {
        return false;
    }
    const struct block *block =
        space == NULL ? mock_heap_find(&device->heap, address)
                      : holding(space, (uint64_t)((const uint8_t *)address - space->base));
    if (block == NULL) {
        return false;
    }
    *found = *block;
    if (space == NULL) {
        return true;
    }
    uint64_t start = block->offset, end = start + block->size;
    const struct block *next = block;
    while (start > 0 && (next = holding(space, start - 1)) != NULL) {
        start = next->offset;
    }
    while (end < space->bytes && (next = holding(space, end)) != NULL) {
        end += next->size;
    }
    found->offset = (uint64_t)(space->base - device->heap.base) + start;
    found->size = found->requested = end - start;
    return true;
}

bool mock_is_mapped(const void *address, uint64_t bytes)
{
    const struct device *device = mock_device_of(address);
    const struct reservation *space = device == NULL ? NULL : mock_space_of(address);
    struct block found;
    if (space == NULL) {
        return true;
    }
    const uint64_t offset = (uint64_t)((const uint8_t *)address - device->heap.base);
    return mock_memory_find(device, address, &found) && mock_block_holds(&found, offset, bytes);
}

/* ---- imported by a key -------------------------------------------------------------------- */

void *mock_space_import(struct physical *physical)
{
    const uint64_t head = physical->offset % PAGE;
    const uint64_t bytes = head + physical->bytes;
    struct reservation *space =
        mock_space_reserve((bytes + MOCK_GRANULE - 1) / MOCK_GRANULE * MOCK_GRANULE, MOCK_GRANULE,
                           NULL);
    physical->offset -= head;
    physical->bytes = bytes;
    const int error = space == NULL ? errno : mock_space_map(space, 0, physical, 0, bytes);
    if (error != 0) {
        if (space != NULL) {
            mock_space_release(space);
        }
        errno = error;
        return NULL;
    }
    space->number = physical->number;
    return space->base + head;
}

struct reservation *mock_space_imported(uint64_t number)
{
    struct reservation *space = spaces;
    while (space != NULL && space->number != number) {
        space = space->next;
    }
    return space;
}

void mock_space_import_end(struct reservation *space)
{
    struct mapping *mapping = (struct mapping *)space->mappings.root;
    struct physical *physical = mapping->physical;
    mock_space_unmap(space, mapping);
    if (physical->source != 0) {
        mock_import_end(physical);
    }
    mock_physical_free(physical, false);
    mock_space_release(space);
}

/* ---- the device --------------------------------------------------------------------------- */

void mock_space_close(struct device *device)
{
    for (struct reservation *space = spaces, *next; space != NULL; space = next) {
        next = space->next;
        if (space->device == device && space->number != 0) {
            mock_space_import_end(space);
            continue;
        }
        while (space->device == device && space->mappings.root != NULL) {
            mock_space_unmap(space, (struct mapping *)space->mappings.root);
        }
    }
    mock_share_close(device);
    while (device->physicals != NULL) {
        if (device->physicals->source != 0) {
            mock_import_end(device->physicals);
        }
        mock_physical_free(device->physicals, false);
    }
}

void mock_space_forked(const struct device *device)
{
    mock_share_close(device);
    for (const struct reservation *space = spaces; space != NULL; space = space->next) {
        if (space->device == device) {
            mmap(space->alias, space->bytes, PROT_READ | PROT_WRITE, RESERVED | MAP_FIXED, -1, 0);
        }
    }
}
