/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a memory whose poison has not been written yet. */
#include "unwritten.h"

#include "poison.h"

static uint64_t larger(uint64_t one, uint64_t other)
{
    return one > other ? one : other;
}

/* Size of a part of a range in bytes. */
static uint64_t common(const struct mock_unwritten_part *part, uint64_t offset, uint64_t bytes)
{
    const uint64_t start = larger(part->offset, offset);
    const uint64_t own = part->offset + part->bytes, end = offset + bytes;
    return larger(own < end ? own : end, start) - start;
}

bool mock_unwritten_holds(const struct mock_unwritten *all, uint64_t offset, uint64_t bytes)
{
    uint64_t found = 0;
    for (size_t i = 0; i < all->count; i++) {
        found += common(&all->parts[i], offset, bytes);
    }
    return found == bytes;
}

static void add(struct mock_unwritten *all, uint64_t offset, uint64_t bytes, unsigned pattern)
{
    if (bytes > 0) {
        all->parts[all->count++] = (struct mock_unwritten_part){offset, bytes, pattern};
    }
}

/* Join a part with those beside it that are alike, unless the whole would be filled sparsely. */
static void join(struct mock_unwritten *all, struct mock_unwritten_part joined)
{
    for (size_t i = 0; i < all->count;) {
        const struct mock_unwritten_part *part = &all->parts[i];
        const bool before = part->offset + part->bytes == joined.offset;
        const bool behind = joined.offset + joined.bytes == part->offset;
        if ((before || behind) && part->pattern == joined.pattern &&
            !mock_poison_is_sparse(part->bytes + joined.bytes)) {
            joined.offset = before ? part->offset : joined.offset;
            joined.bytes += part->bytes;
            all->parts[i] = all->parts[--all->count];
            i = 0;
        } else {
            i++;
        }
    }
    add(all, joined.offset, joined.bytes, joined.pattern);
}

bool mock_unwritten_set(struct mock_unwritten *all, uint64_t offset, uint64_t bytes,
                        unsigned pattern)
{
    const uint64_t end = offset + bytes;
    struct mock_unwritten_part part;
    if (all->count + 2 > MOCK_UNWRITTEN_PARTS) {
        return false;
    }
    while (mock_unwritten_take(all, offset, bytes, &part)) {
        const uint64_t own = part.offset + part.bytes;
        add(all, part.offset, larger(offset, part.offset) - part.offset, part.pattern);
        add(all, end, larger(own, end) - end, part.pattern);
    }
    join(all, (struct mock_unwritten_part){offset, bytes, pattern});
    return true;
}

bool mock_unwritten_take(struct mock_unwritten *all, uint64_t offset, uint64_t bytes,
                         struct mock_unwritten_part *part)
{
    for (size_t i = 0; i < all->count; i++) {
        if (common(&all->parts[i], offset, bytes) > 0) {
            *part = all->parts[i];
            all->parts[i] = all->parts[--all->count];
            return true;
        }
    }
    return false;
}
