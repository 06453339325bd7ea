/* SPDX-License-Identifier: Apache-2.0 */
/* Compression and checksums of blocks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Compress into so much room, and say in it how much is used; false: there is no zlib, or too little
 * room. */
bool capture_compress(uint8_t *to, size_t *room, const uint8_t *from, size_t length);
uint32_t capture_checksum(const uint8_t *data, size_t length); /* CRC-32 */
