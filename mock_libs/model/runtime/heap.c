/* SPDX-License-Identifier: Apache-2.0 */
/* A first-fit allocator over the reserved address range, and its poison. */
#include "heap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fault.h"
#include "poison.h"

/* PAGE: the largest of any machine this runs on. */
enum { ALIGNMENT = 64, PAGE = 64 << 10 };

/* Freeing a large block gives its memory back. */
static void poison(const struct heap *heap, const struct allocation *block, unsigned pattern)
{
    if (pattern == MOCK_FREED && mock_poison_is_sparse(block->size)) {
        madvise(heap->alias + (block->offset + PAGE - 1) / PAGE * PAGE,
                block->size / PAGE * PAGE - PAGE, MADV_REMOVE);
    }
    mock_poison(heap->alias + block->offset, block->size, pattern);
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

bool mock_heap_allocate(struct heap *heap, uint64_t size, uint64_t requested, void **address)
{
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
    if (offset > heap->bytes || step > heap->bytes - offset) {
        return false;
    }
    memmove(&heap->items[place + 1], &heap->items[place],
            (heap->count - place) * sizeof heap->items[0]);
    heap->items[place] =
        (struct allocation){offset, size, requested, {.created = mock_origin_now()}};
    heap->count++;
    heap->used += size;
    poison(heap, &heap->items[place], MOCK_FRESH);
    *address = heap->base + offset;
    return true;
}

const struct allocation *mock_heap_find(const struct heap *heap, const void *address)
{
    const uint64_t offset = (uint64_t)((const uint8_t *)address - heap->base);
    const size_t place = upper_bound(heap, offset);
    if (place == 0 || offset - heap->items[place - 1].offset >= heap->items[place - 1].size) {
        return NULL;
    }
    return &heap->items[place - 1];
}

const struct allocation *mock_heap_freed(const struct heap *heap, const void *address)
{
    const uint64_t offset = (uint64_t)((const uint8_t *)address - heap->base);
    for (size_t back = 1; back <= MOCK_FREED_BLOCKS && back <= heap->freed_count; back++) {
        const struct allocation *block =
            &heap->freed[(heap->freed_count - back) % MOCK_FREED_BLOCKS];
        if (offset - block->offset < block->size) {
            return block;
        }
    }
    return NULL;
}

bool mock_heap_free(struct heap *heap, const void *address)
{
    const struct allocation *found = mock_heap_find(heap, address);
    if (found == NULL || heap->base + found->offset != (const uint8_t *)address) {
        return false;
    }
    const size_t place = (size_t)(found - heap->items);
    poison(heap, found, MOCK_FREED);
    struct allocation *freed = &heap->freed[heap->freed_count++ % MOCK_FREED_BLOCKS];
    *freed = *found;
    freed->history.destroyed = mock_origin_now();
    heap->used -= found->size;
    heap->count--;
    memmove(&heap->items[place], &heap->items[place + 1],
            (heap->count - place) * sizeof heap->items[0]);
    return true;
}

void mock_heap_clear(struct heap *heap)
{
    free(heap->items);
    *heap = (struct heap){0};
}
