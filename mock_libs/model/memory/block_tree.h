/* SPDX-License-Identifier: Apache-2.0 */
/* An ordered set of blocks of memory: a tree in which finding, making room, adding and removing take
 * as many steps as the set is deep, however many blocks there are. */
#pragma once

#include "handles.h"

struct block {
    uint64_t offset, size;
    uint64_t number;    /* no other block has had it */
    uint64_t requested; /* by the program; the rest is padding */
    struct mock_history history;
    bool reported; /* as still alive, so that it is reported once */
    bool physical; /* has no address: it is mapped elsewhere, or not at all */
    bool untouched; /* lay where no block had lain before */

    uint64_t gap;    /* free bytes between this block and the next one */
    uint64_t max_gap; /* gap of the blocks from here down the tree */
    uint64_t priority;
    struct block *before, *after;
};

struct blocks {
    struct block *root;
};

/* The last block that starts at an offset or before it, or NULL. */
struct block *mock_blocks_find(const struct blocks *blocks, uint64_t offset);
/* The first block that has so wide a gap behind it, or NULL. */
struct block *mock_blocks_fit(const struct blocks *blocks, uint64_t bytes);
/* Add a block, whose offset none has yet / takes one out. Neither allocates nor frees. */
void mock_blocks_add(struct blocks *blocks, struct block *block);
void mock_blocks_remove(struct blocks *blocks, const struct block *block);
void mock_blocks_set_gap(struct blocks *blocks, struct block *block, uint64_t gap);
/* Look at every block in order; the visitor changes nothing of the set. */
void mock_blocks_visit(const struct blocks *blocks, void (*visit)(struct block *block, void *data),
                      void *data);
/* Free every block. */
void mock_blocks_clear(struct blocks *blocks);

/* Return whether a range that begins inside of a block, where the program may be, ends there
 * too. */
bool mock_block_holds(const struct block *block, uint64_t offset, uint64_t bytes);
