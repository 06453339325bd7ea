/* SPDX-License-Identifier: Apache-2.0 */
/* Poison patterns. They make memory resident. */
#include "poison.h"

#include <string.h>

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

enum { LARGE = 32 << 20, END = 4 << 20, STRETCH = 2 << 20, SPOT = 64 };

bool mock_poison_is_sparse(uint64_t size)
{
    return size > LARGE;
}

void mock_poison(uint8_t *bytes, uint64_t size, unsigned pattern)
{
    if (!mock_poison_is_sparse(size)) {
        fill(bytes, size, pattern);
        return;
    }
    fill(bytes, END, pattern);
    for (uint64_t at = END; at < size - END; at += STRETCH) {
        fill(bytes + at, SPOT, pattern);
    }
    fill(bytes + size - END, END, pattern);
}
