/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory: an allocator over a reserved range of addresses. */
#pragma once

#include "block_tree.h"
#include "unwritten.h"

enum { MOCK_FREED_BLOCKS = 256 };

/* Live blocks of a device by their offsets, and the last ones that were freed. */
struct heap {
    uint8_t *base;  /* the addresses handed out: reserved, without access */
    uint8_t *alias; /* the same memory, for the runtime's own copies */
    int descriptor; /* of the file that both are of, or -1 */
    uint64_t bytes;
    struct blocks blocks;
    uint64_t used, limit, first; /* first: where the first block lies */
    uint64_t touched; /* no block has lain behind this offset */
    struct mock_unwritten unwritten;
    struct block freed[MOCK_FREED_BLOCKS];
    size_t freed_count; /* ever */
};

/* A new block at a multiple of an alignment, or NULL / gives one back. */
struct block *mock_heap_add_block(struct heap *heap, uint64_t size, uint64_t requested,
                             uint64_t alignment);
void mock_heap_remove_block(struct heap *heap, struct block *block);
/* The same by address, for a block that has one. */
bool mock_heap_allocate(struct heap *heap, uint64_t size, uint64_t requested, void **address);
bool mock_heap_free(struct heap *heap, const void *address);
/* Detach a block that another process still uses from its address. */
void mock_heap_detach(struct heap *heap, const void *address);
/* The live block that holds an address of the heap, or NULL. */
const struct block *mock_heap_find(const struct heap *heap, const void *address);
/* The block freed last that held an address, or NULL. */
const struct block *mock_heap_freed(const struct heap *heap, const void *address);
/* Those that have an address. */
void mock_heap_visit(struct heap *heap,
                    void (*visit)(struct heap *heap, const struct block *block, void *data),
                    void *data);
/* Write the poison of a range that is about to be read or written; nothing where it is written. */
void mock_heap_reach(struct heap *heap, const void *address, uint64_t bytes);
/* Leave a pattern in a range, as a kernel does, without writing it. false: it has been written. */
bool mock_heap_leave(struct heap *heap, const void *address, uint64_t bytes, unsigned pattern);
/* Write poison at once from now on: another process may read the memory at any time. */
void mock_heaps_written(void);
/* Forget every block. */
void mock_heap_clear(struct heap *heap);
