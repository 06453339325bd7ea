/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a memory whose poison has not been written yet. Most of a large workspace is never
 * reached, and to fill it costs more than to start a device and run a small kernel. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOCK_UNWRITTEN_PARTS = 16 };

struct mock_unwritten_part {
    uint64_t offset, bytes;
    unsigned pattern;
};

struct mock_unwritten {
    struct mock_unwritten_part parts[MOCK_UNWRITTEN_PARTS]; /* none meets another */
    size_t count;
};

/* Return whether a whole range is unwritten. */
bool mock_unwritten_holds(const struct mock_unwritten *all, uint64_t offset, uint64_t bytes);
/* Set the pattern of a range that is unwritten as a whole, or not at all. false: there are too many
 * parts. */
bool mock_unwritten_set(struct mock_unwritten *all, uint64_t offset, uint64_t bytes,
                        unsigned pattern);
/* Take a part that meets a range, to write it. false: there is none. */
bool mock_unwritten_take(struct mock_unwritten *all, uint64_t offset, uint64_t bytes,
                         struct mock_unwritten_part *part);
