/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory: a first-fit allocator over the reserved address range, and its poison. */
#include "state.h"

#include "fault.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* PAGE: the largest of any machine this runs on. */
enum { ALIGNMENT = 64, PAGE = 64 << 10 };

/* Doubling copies: the speed of memcpy for a 16-bit pattern. */
static void fill(uint8_t *bytes, uint64_t size, unsigned pattern)
{
    const uint16_t value = (uint16_t)pattern;
    uint64_t done = sizeof value;
    memcpy(bytes, &value, sizeof value);
    while (done < size) {
        const uint64_t left = size - done;
        const uint64_t step = done < left ? done : left;
        memcpy(bytes + done, bytes, step);
        done += step;
    }
}

/* Poison makes memory real. Of a block that could exhaust the host, both ends are filled and a few
 * bytes of every stretch between, and freeing gives the memory back. */
static void poison(struct device *device, const struct allocation *block, unsigned pattern)
{
    enum { LARGE = 32 << 20, END = 4 << 20, STRETCH = 2 << 20, SPOT = 64 };
    uint8_t *bytes = device->alias + block->offset;
    if (block->size <= LARGE) {
        fill(bytes, block->size, pattern);
        return;
    }
    if (pattern == MOCK_FREED) {
        madvise(device->alias + (block->offset + PAGE - 1) / PAGE * PAGE,
                block->size / PAGE * PAGE - PAGE, MADV_REMOVE);
    }
    fill(bytes, END, pattern);
    for (uint64_t at = END; at < block->size - END; at += STRETCH) {
        fill(bytes + at, SPOT, pattern);
    }
    fill(bytes + block->size - END, END, pattern);
}

/* The place of the first block that starts behind an offset. */
static size_t upper_bound(const struct heap *heap, uint64_t offset)
{
    size_t low = 0, high = heap->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (heap->items[middle].offset <= offset) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool reserve_item(struct heap *heap)
{
    if (heap->count < heap->capacity) {
        return true;
    }
    const size_t capacity = heap->capacity == 0 ? 64 : heap->capacity * 2;
    struct allocation *larger = realloc(heap->items, capacity * sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    heap->items = larger;
    heap->capacity = capacity;
    return true;
}

bool mock_heap_allocate(struct device *device, uint64_t size, uint64_t requested, void **address)
{
    struct heap *heap = &device->heap;
    const uint64_t most = mock_fault_memory();
    const uint64_t limit = heap->limit < most ? heap->limit : most;
    if (size > limit || heap->used > limit - size || !reserve_item(heap)) {
        return false;
    }
    const uint64_t step = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    /* Byte 0 stays unused: an address equal to the base would hide an off-by-one below it. */
    uint64_t offset = ALIGNMENT;
    size_t place = 0;
    while (place < heap->count && heap->items[place].offset - offset < step) {
        const struct allocation *block = &heap->items[place];
        offset = (block->offset + block->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        place++;
    }
    if (offset > device->memory_bytes || step > device->memory_bytes - offset) {
        return false;
    }
    memmove(&heap->items[place + 1], &heap->items[place],
            (heap->count - place) * sizeof heap->items[0]);
    heap->items[place] =
        (struct allocation){offset, size, requested, {.created = mock_origin_now()}};
    heap->count++;
    heap->used += size;
    poison(device, &heap->items[place], MOCK_FRESH);
    *address = device->base + offset;
    return true;
}

const struct allocation *mock_heap_find(const struct device *device, const void *address)
{
    const struct heap *heap = &device->heap;
    const uint64_t offset = (uint64_t)((const uint8_t *)address - device->base);
    const size_t place = upper_bound(heap, offset);
    if (place == 0 || offset - heap->items[place - 1].offset >= heap->items[place - 1].size) {
        return NULL;
    }
    return &heap->items[place - 1];
}

const struct allocation *mock_heap_freed(const struct device *device, const void *address)
{
    const struct heap *heap = &device->heap;
    const uint64_t offset = (uint64_t)((const uint8_t *)address - device->base);
    for (size_t back = 1; back <= MOCK_FREED_BLOCKS && back <= heap->freed_count; back++) {
        const struct allocation *block =
            &heap->freed[(heap->freed_count - back) % MOCK_FREED_BLOCKS];
        if (offset - block->offset < block->size) {
            return block;
        }
    }
    return NULL;
}

enum mock_place mock_memory_place(int device_id, const void *address, int64_t distance,
                                  uint64_t bytes, struct mock_history *history)
{
    const struct device *device = mock_device_of(address);
    *history = (struct mock_history){0};
    if (device == NULL) {
        return MOCK_NOWHERE;
    }
    const struct allocation *block = mock_heap_find(device, address);
    const struct allocation *known = block == NULL ? mock_heap_freed(device, address) : block;
    if (known != NULL) {
        *history = known->history;
    }
    if (block == NULL) {
        return MOCK_NOWHERE;
    }
    if (device->id != device_id) {
        return MOCK_ELSEWHERE;
    }
    /* Below the block's start this is a huge number. */
    const uint64_t offset = (uint64_t)((const uint8_t *)address - device->base) - block->offset +
                            (uint64_t)distance;
    /* The padding behind a block is for the cores, not for the program. */
    return offset <= block->requested && bytes <= block->requested - offset ? MOCK_INSIDE
                                                                            : MOCK_BEYOND;
}

bool mock_heap_free(struct device *device, const void *address)
{
    struct heap *heap = &device->heap;
    const struct allocation *found = mock_heap_find(device, address);
    if (found == NULL || device->base + found->offset != (const uint8_t *)address) {
        return false;
    }
    const size_t place = (size_t)(found - heap->items);
    poison(device, found, MOCK_FREED);
    struct allocation *freed = &heap->freed[heap->freed_count++ % MOCK_FREED_BLOCKS];
    *freed = *found;
    freed->history.destroyed = mock_origin_now();
    heap->used -= found->size;
    heap->count--;
    memmove(&heap->items[place], &heap->items[place + 1],
            (heap->count - place) * sizeof heap->items[0]);
    return true;
}

void *mock_alias(const void *address)
{
    const struct device *device = mock_device_of(address);
    return device == NULL ? (void *)(uintptr_t)address
                          : device->alias + ((const uint8_t *)address - device->base);
}

void *mock_reach(const void *address, uint64_t bytes)
{
    const struct device *device = mock_device_of(address);
    if (device == NULL) {
        return (void *)(uintptr_t)address;
    }
    const uint64_t offset = (uint64_t)((const uint8_t *)address - device->base);
    const struct allocation *block = mock_heap_find(device, address);
    if (block == NULL || bytes > block->size - (offset - block->offset)) {
        return NULL;
    }
    return device->alias + offset;
}
