/* SPDX-License-Identifier: Apache-2.0 */
/* Pinned host memory: the blocks of aclrtMallocHost. */
#pragma once

#include "block_tree.h"

/* A new block of poisoned memory, or NULL. */
void *mock_pinned_allocate(size_t size);
/* The block that holds an address, or NULL; its offset is its address. */
const struct block *mock_pinned_find(const void *address);
/* Free the block that starts at an address. */
void mock_pinned_free(const void *address);
/* The block freed lately that started at an address, or NULL. */
const struct block *mock_pinned_freed(const void *address);
/* Return whether a range lies in the requested part of one block. */
bool mock_host_is_pinned(const void *address, uint64_t bytes);
void mock_pinned_visit(void (*visit)(struct block *block, void *data), void *data);
/* Record memory of the program as pinned; false: no host memory. And the end of that. */
bool mock_pinned_register(const void *address, uint64_t bytes);
void mock_pinned_unregister(const void *address);
/* Return whether a range meets a block. */
bool mock_pinned_meets(const void *address, uint64_t bytes);
