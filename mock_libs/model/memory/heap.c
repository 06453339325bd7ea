/* SPDX-License-Identifier: Apache-2.0 */
/* A first-fit allocator over the reserved address range, and its poison. */
#include "heap.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "fault.h"
#include "poison.h"
#include "poisoned_workspace.h"
#include "violation.h"

/* STEP: where blocks start, and what they are rounded up to. CANN promises PROMISED, but its
 * addresses lie further apart, and programs rely on that. PAGE: the largest of any machine. */
enum { PROMISED = 64, STEP = 512, PAGE = 64 << 10 };
enum { LARGE = 128 << 10 }; /* from here on poison waits until somebody reaches it */

static uint64_t offset_of(const struct heap *heap, const void *address)
{
    return (uint64_t)((const uint8_t *)address - heap->base);
}

static bool all_written;

void mock_heaps_written(void)
{
    all_written = true;
}

void mock_heap_reach(struct heap *heap, const void *address, uint64_t bytes)
{
    struct mock_unwritten_part part;
    const uint64_t offset = offset_of(heap, address);
    const uint64_t most = offset < heap->bytes ? heap->bytes - offset : 0;
    bytes = bytes < most ? bytes : most;
    while (mock_unwritten_take(&heap->unwritten, offset, bytes, &part)) {
        mock_poison_file(heap->descriptor, part.offset, heap->alias + part.offset, part.bytes,
                         part.pattern);
    }
}

bool mock_heap_leave(struct heap *heap, const void *address, uint64_t bytes, unsigned pattern)
{
    const uint64_t offset = offset_of(heap, address);
    return (offset | bytes) % sizeof(uint16_t) == 0 && offset < heap->bytes &&
           mock_unwritten_holds(&heap->unwritten, offset, bytes) &&
           mock_unwritten_set(&heap->unwritten, offset, bytes, pattern);
}

/* Where no block has lain, or poison waits already. */
static bool waits(const struct heap *heap, const struct block *block, unsigned pattern)
{
    const bool is_new = block->untouched && pattern == MOCK_FRESH && block->size >= LARGE &&
                        !mock_poison_is_sparse(block->size);
    return !all_written &&
           (is_new || mock_unwritten_holds(&heap->unwritten, block->offset, block->size));
}

/* Freeing a large block gives its memory back. */
static void poison(struct heap *heap, const struct block *block, unsigned pattern)
{
    mock_workspace_written((uint8_t *)heap->base + block->offset, block->size);
    if (waits(heap, block, pattern) &&
        mock_unwritten_set(&heap->unwritten, block->offset, block->size, pattern)) {
        return;
    }
    mock_heap_reach(heap, heap->base + block->offset, block->size);
    if (pattern == MOCK_FREED && mock_poison_is_sparse(block->size)) {
        madvise(heap->alias + (block->offset + PAGE - 1) / PAGE * PAGE,
                block->size / PAGE * PAGE - PAGE, MADV_REMOVE);
    }
    uint8_t *bytes = heap->alias + block->offset;
    if (block->untouched) {
        mock_poison_file(heap->descriptor, block->offset, bytes, block->size, pattern);
    } else {
        mock_poison(bytes, block->size, pattern);
    }
}

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + STEP - 1) / STEP * STEP;
}

/* An empty block lies at the start, followed by the free memory before the first block: an address
 * equal to the base would hide an off-by-one below it. Strict addresses keep the promise alone. */
static bool reserve_start(struct heap *heap)
{
    if (heap->blocks.root != NULL) {
        return true;
    }
    struct block *start = calloc(1, sizeof *start);
    if (start != NULL) {
        heap->first = mock_is_strict() ? PROMISED : STEP;
        start->gap = heap->bytes - heap->first;
        mock_blocks_add(&heap->blocks, start);
    }
    return start != NULL;
}

static struct block *add_block(struct heap *heap, uint64_t size, uint64_t requested,
                               uint64_t alignment)
{
    const uint64_t most = mock_fault_memory_limit();
    const uint64_t limit = heap->limit < most ? heap->limit : most;
    if (size > limit || heap->used > limit - size || !reserve_start(heap)) {
        return NULL;
    }
    const uint64_t step = aligned(size);
    struct block *before = mock_blocks_fit(&heap->blocks, step + alignment - PROMISED);
    struct block *block = before == NULL ? NULL : malloc(sizeof *block);
    if (block == NULL) {
        return NULL;
    }
    const uint64_t end = before->size == 0 ? heap->first : before->offset + aligned(before->size);
    const uint64_t skipped = (alignment - end % alignment) % alignment;
    *block = (struct block){.offset = end + skipped,
                            .size = size,
                            .requested = requested,
                            .gap = before->gap - skipped - step,
                            .untouched = end >= heap->touched,
                            .history = {.created = mock_origin_current()}};
    mock_blocks_set_gap(&heap->blocks, before, skipped);
    mock_blocks_add(&heap->blocks, block);
    heap->used += size;
    if (block->untouched) {
        heap->touched = block->offset + size;
    }
    poison(heap, block, MOCK_FRESH);
    return block;
}

struct block *mock_heap_add_block(struct heap *heap, uint64_t size, uint64_t requested,
                             uint64_t alignment)
{
    struct block *block = add_block(heap, size, requested, alignment);
    if (block != NULL) { /* it has further addresses */
        mock_heap_reach(heap, heap->base + block->offset, size);
    }
    return block;
}

bool mock_heap_allocate(struct heap *heap, uint64_t size, uint64_t requested, void **address)
{
    const struct block *block = add_block(heap, size, requested, PROMISED);
    if (block != NULL) {
        *address = heap->base + block->offset;
    }
    return block != NULL;
}

const struct block *mock_heap_find(const struct heap *heap, const void *address)
{
    const uint64_t offset = offset_of(heap, address);
    const struct block *block = mock_blocks_find(&heap->blocks, offset);
    const bool inside = block != NULL && offset - block->offset < block->size;
    return inside && !block->physical ? block : NULL;
}

const struct block *mock_heap_freed(const struct heap *heap, const void *address)
{
    const uint64_t offset = offset_of(heap, address);
    for (size_t back = 1; back <= MOCK_FREED_BLOCKS && back <= heap->freed_count; back++) {
        const struct block *block = &heap->freed[(heap->freed_count - back) % MOCK_FREED_BLOCKS];
        if (offset - block->offset < block->size && !block->physical) {
            return block;
        }
    }
    return NULL;
}

void mock_heap_remove_block(struct heap *heap, struct block *block)
{
    poison(heap, block, MOCK_FREED);
    struct block *freed = &heap->freed[heap->freed_count++ % MOCK_FREED_BLOCKS];
    *freed = *block;
    freed->history.destroyed = mock_origin_current();
    heap->used -= block->size;
    struct block *before = mock_blocks_find(&heap->blocks, block->offset - 1);
    mock_blocks_set_gap(&heap->blocks, before,
                        before->gap + aligned(block->size) + block->gap);
    mock_blocks_remove(&heap->blocks, block);
    free(block);
}

bool mock_heap_free(struct heap *heap, const void *address)
{
    const uint64_t offset = offset_of(heap, address);
    struct block *block = mock_blocks_find(&heap->blocks, offset);
    const bool found =
        block != NULL && block->offset == offset && block->size > 0 && !block->physical;
    if (found) {
        mock_heap_remove_block(heap, block);
    }
    return found;
}

void mock_heap_detach(struct heap *heap, const void *address)
{
    mock_blocks_find(&heap->blocks, offset_of(heap, address))->physical = true;
}

struct visit {
    struct heap *heap;
    void (*visit)(struct heap *heap, const struct block *block, void *data);
    void *data;
};

static void visit(struct block *block, void *data)
{
    const struct visit *each = data;
    if (block->size > 0 && !block->physical) {
        each->visit(each->heap, block, each->data);
    }
}

void mock_heap_visit(struct heap *heap,
                    void (*function)(struct heap *heap, const struct block *block, void *data),
                    void *data)
{
    struct visit each = {heap, function, data};
    mock_blocks_visit(&heap->blocks, visit, &each);
}

void mock_heap_clear(struct heap *heap)
{
    mock_blocks_clear(&heap->blocks);
    *heap = (struct heap){.descriptor = -1};
}
