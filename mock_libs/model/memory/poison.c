/* SPDX-License-Identifier: Apache-2.0 */
/* Poison patterns. They make memory resident. */
#include "poison.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LARGE = 32 << 20, END = 4 << 20, STRETCH = 2 << 20, SPOT = 64, PIECE = 128 << 10 };

/* Doubling copies, of what the processor's cache holds. */
static void fill(uint8_t *bytes, uint64_t size, unsigned pattern)
{
    const uint16_t value = (uint16_t)pattern;
    uint64_t done = sizeof value;
    memcpy(bytes, &value, sizeof value);
    while (done < size) {
        const uint64_t left = size - done, ready = done < PIECE ? done : PIECE;
        const uint64_t step = ready < left ? ready : left;
        memcpy(bytes + done, bytes, step);
        done += step;
    }
}

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

/* Beyond the process's limit the system would answer with a deadly signal. */
static bool may_write(uint64_t end)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur >= end;
}

void mock_poison_file(int descriptor, uint64_t offset, uint8_t *bytes, uint64_t size,
                      unsigned pattern)
{
    static uint8_t piece[PIECE];
    uint64_t done = 0, step = 0;
    if (size >= PIECE && !mock_poison_is_sparse(size) && may_write(offset + size)) {
        fill(piece, PIECE, pattern);
        do {
            done += step;
            step = size - done < PIECE ? size - done : PIECE;
        } while (step > 0 &&
                 pwrite(descriptor, piece, step, (off_t)(offset + done)) == (ssize_t)step);
    }
    if (done < size) {
        mock_poison(bytes + done, size - done, pattern);
    }
}
