/* SPDX-License-Identifier: Apache-2.0 */
/* An ordered set of blocks: a treap, whose priorities follow from the offsets. */
#include "block_tree.h"

#include <stdlib.h>

static uint64_t max_gap_of(const struct block *block)
{
    return block == NULL ? 0 : block->max_gap;
}

static void update_max_gap(struct block *block)
{
    const uint64_t before = max_gap_of(block->before), after = max_gap_of(block->after);
    const uint64_t below = before > after ? before : after;
    block->max_gap = below > block->gap ? below : block->gap;
}

/* Parts a tree into what starts before an offset and the rest. */
static void part(struct block *tree, uint64_t offset, struct block **low, struct block **high)
{
    if (tree == NULL) {
        *low = *high = NULL;
    } else if (tree->offset < offset) {
        part(tree->after, offset, &tree->after, high);
        *low = tree;
        update_max_gap(tree);
    } else {
        part(tree->before, offset, low, &tree->before);
        *high = tree;
        update_max_gap(tree);
    }
}

/* Join two trees, of which all of the first lies before all of the second. */
static struct block *join(struct block *low, struct block *high)
{
    if (low == NULL || high == NULL) {
        return low == NULL ? high : low;
    }
    struct block *top = low->priority > high->priority ? low : high;
    if (top == low) {
        low->after = join(low->after, high);
    } else {
        high->before = join(low, high->before);
    }
    update_max_gap(top);
    return top;
}

struct block *mock_blocks_find(const struct blocks *blocks, uint64_t offset)
{
    struct block *found = NULL, *at = blocks->root;
    while (at != NULL) {
        if (at->offset <= offset) {
            found = at;
            at = at->after;
        } else {
            at = at->before;
        }
    }
    return found;
}

struct block *mock_blocks_fit(const struct blocks *blocks, uint64_t bytes)
{
    struct block *at = blocks->root;
    if (max_gap_of(at) < bytes) {
        return NULL;
    }
    for (;;) {
        if (max_gap_of(at->before) >= bytes) {
            at = at->before;
        } else if (at->gap >= bytes) {
            return at;
        } else {
            at = at->after;
        }
    }
}

/* splitmix64: neighbours get priorities that have nothing to do with each other. */
static uint64_t scatter(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

void mock_blocks_add(struct blocks *blocks, struct block *block)
{
    static uint64_t next_number;
    struct block *low, *high;
    block->number = ++next_number;
    block->priority = scatter(block->offset);
    block->before = block->after = NULL;
    update_max_gap(block);
    part(blocks->root, block->offset, &low, &high);
    blocks->root = join(join(low, block), high);
}

void mock_blocks_remove(struct blocks *blocks, const struct block *block)
{
    struct block *low, *rest, *one, *high;
    part(blocks->root, block->offset, &low, &rest);
    part(rest, block->offset + 1, &one, &high);
    blocks->root = join(low, high);
}

static void update_max_gaps(struct block *tree, const struct block *block)
{
    if (tree != block) {
        update_max_gaps(tree->offset < block->offset ? tree->after : tree->before, block);
    }
    update_max_gap(tree);
}

void mock_blocks_set_gap(struct blocks *blocks, struct block *block, uint64_t gap)
{
    block->gap = gap;
    update_max_gaps(blocks->root, block);
}

static void each(struct block *tree, void (*visit)(struct block *block, void *data), void *data)
{
    if (tree != NULL) {
        each(tree->before, visit, data);
        visit(tree, data);
        each(tree->after, visit, data);
    }
}

void mock_blocks_visit(const struct blocks *blocks, void (*visit)(struct block *block, void *data),
                      void *data)
{
    each(blocks->root, visit, data);
}

static void clear(struct block *tree)
{
    if (tree != NULL) {
        clear(tree->before);
        clear(tree->after);
        free(tree);
    }
}

void mock_blocks_clear(struct blocks *blocks)
{
    clear(blocks->root);
    blocks->root = NULL;
}

bool mock_block_holds(const struct block *block, uint64_t offset, uint64_t bytes)
{
    const uint64_t distance = offset - block->offset; /* huge where the range begins before */
    return distance <= block->requested && bytes <= block->requested - distance;
}
