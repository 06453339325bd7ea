/* SPDX-License-Identifier: Apache-2.0 */
/* Pinned host memory: the blocks of aclrtMallocHost. */
#ifndef MOCK_PINNED_H
#define MOCK_PINNED_H

#include "handles.h"

struct pinned {
    uint8_t *address;
    size_t size;
    struct pinned *next;
    struct mock_history history;
    bool reported;
};

/* A new block of poisoned memory, or NULL. */
void *mock_pinned_allocate(size_t size);
/* The block that starts at an address, or NULL. */
const struct pinned *mock_pinned_find(const void *address);
void mock_pinned_free(const void *address);
/* The block freed lately that started at an address, or NULL. */
const struct pinned *mock_pinned_freed(const void *address);
/* Whether a range lies in one block. */
bool mock_host_is_pinned(const void *address, uint64_t bytes);
void mock_pinned_each(void (*visit)(struct pinned *block));

#endif
