/* SPDX-License-Identifier: Apache-2.0 */
/* Poison patterns of memory that was not written. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* NaN in every float type, in every half-word: fresh memory, freed memory, a workspace after its
 * kernel. */
enum { MOCK_FRESH = 0x7FFF, MOCK_FREED = 0xFFFE, MOCK_USED = 0x7FFD };

/* A range of whole half-words is filled; of one that could exhaust the host, both ends and a few
 * bytes of every stretch between. */
void mock_poison(uint8_t *bytes, uint64_t size, unsigned pattern);
/* The same for memory that is a file's and not mapped here yet. Writing to the file costs a third of
 * the page faults; whatever cannot be written is filled as above. */
void mock_poison_file(int descriptor, uint64_t offset, uint8_t *bytes, uint64_t size,
                      unsigned pattern);
/* Return whether a range of this size is filled sparsely. */
bool mock_poison_is_sparse(uint64_t size);
