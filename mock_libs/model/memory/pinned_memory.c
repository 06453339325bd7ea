/* SPDX-License-Identifier: Apache-2.0 */
/* Pinned host memory, and the blocks that were freed last. */
#include "pinned_memory.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "poison.h"

static struct blocks pinned;

/* The blocks that were freed last. */
enum { FREED = 64, ALIGNMENT = 4096, PATTERN = 0xFFFF };
static struct block freed[FREED];
static size_t freed_count;

void *mock_pinned_allocate(size_t size)
{
    const uint64_t rounded = (size + 31) / 32 * 32;
    struct block *block = calloc(1, sizeof *block);
    void *memory = NULL;
    if (block == NULL || rounded < size || posix_memalign(&memory, ALIGNMENT, rounded) != 0) {
        free(block);
        return NULL;
    }
    if (mock_poison_is_sparse(rounded)) {
        /* Else a spot of poison could cost a page as large as the stretch between two. */
        madvise((uint8_t *)memory + ALIGNMENT, rounded / ALIGNMENT * ALIGNMENT - ALIGNMENT,
                MADV_NOHUGEPAGE);
    }
    mock_poison(memory, rounded, PATTERN);
    block->offset = (uint64_t)(uintptr_t)memory;
    block->size = rounded;
    block->requested = size;
    block->history.created = mock_origin_current();
    mock_blocks_add(&pinned, block);
    return memory;
}

static struct block *find(const void *address)
{
    const uint64_t offset = (uint64_t)(uintptr_t)address;
    struct block *block = mock_blocks_find(&pinned, offset);
    return block == NULL || offset - block->offset >= block->size ? NULL : block;
}

const struct block *mock_pinned_find(const void *address)
{
    return find(address);
}

/* Forget the block that starts at an address; false: there is none. */
static bool drop(const void *address)
{
    struct block *block = find(address);
    if (block == NULL || block->offset != (uint64_t)(uintptr_t)address) {
        return false;
    }
    mock_blocks_remove(&pinned, block);
    block->history.destroyed = mock_origin_current();
    freed[freed_count++ % FREED] = *block;
    free(block);
    return true;
}

void mock_pinned_free(const void *address)
{
    if (drop(address)) {
        free((void *)(uintptr_t)address);
    }
}

bool mock_pinned_register(const void *address, uint64_t bytes)
{
    struct block *block = calloc(1, sizeof *block);
    if (block == NULL) {
        return false;
    }
    *block = (struct block){.offset = (uint64_t)(uintptr_t)address,
                            .size = bytes,
                            .requested = bytes,
                            .physical = true,
                            .history = {.created = mock_origin_current()}};
    mock_blocks_add(&pinned, block);
    return true;
}

void mock_pinned_unregister(const void *address)
{
    drop(address);
}

bool mock_pinned_meets(const void *address, uint64_t bytes)
{
    const uint64_t start = (uint64_t)(uintptr_t)address;
    const struct block *block = mock_blocks_find(&pinned, start + bytes - 1);
    return block != NULL && block->offset + block->size > start;
}

const struct block *mock_pinned_freed(const void *address)
{
    for (size_t back = 1; back <= FREED && back <= freed_count; back++) {
        const struct block *block = &freed[(freed_count - back) % FREED];
        if (block->offset == (uint64_t)(uintptr_t)address) {
            return block;
        }
    }
    return NULL;
}

bool mock_host_is_pinned(const void *address, uint64_t bytes)
{
    const struct block *block = find(address);
    return block != NULL && mock_block_holds(block, (uint64_t)(uintptr_t)address, bytes);
}

void mock_pinned_visit(void (*visit)(struct block *block, void *data), void *data)
{
    mock_blocks_visit(&pinned, visit, data);
}
