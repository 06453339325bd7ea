/* SPDX-License-Identifier: Apache-2.0 */
/* FNV-1a, a number that stands for some bytes. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define MOCK_HASH_EMPTY 14695981039346656037u

/* The hash of what a hash stands for, MOCK_HASH_EMPTY for nothing, followed by more bytes. */
uint64_t mock_hash(uint64_t hash, const void *data, size_t length);
