/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks at the end of a file, each whole or not there. */
#pragma once

#include "bytes.h"

/* Write at the end of the file; return the error. A limit of the process on files is no reason to end
 * it by a signal. */
int capture_append(int file, uint64_t *end, const uint8_t *data, size_t length);
/* "BLK" and the kind of a block, length, stored length, CRC-32 of what is stored; little-endian. */
enum { CAPTURE_BLOCK_HEAD = 20 };
struct capture_packed {
    uint8_t head[CAPTURE_BLOCK_HEAD];
    const uint8_t *data;
    size_t stored;
};
/* Find zlib, and make room for a block; without memory for it the block is not compressed. */
void capture_prepare_packing(struct capture_bytes *room, uint64_t whole);
/* Pack a block, into the room that is prepared, if it becomes shorter there; NULL: as it is. */
struct capture_packed capture_pack(const uint8_t *data, uint64_t whole, const struct capture_bytes *room);
/* Append a block. Return the error; then nothing of the block is there. */
int capture_append_packed(int file, uint64_t *end, const struct capture_packed *packed);
int capture_append_block(int file, uint64_t *end, const uint8_t *data, uint64_t whole,
                         struct capture_bytes *room);
/* Append the last block: the signal that ended the process, or the error that ended the recording; both are
 * numbers of one byte. It needs no memory, which a handler of a signal cannot ask for. */
int capture_append_end(int file, uint64_t *end, int signal, int error);
