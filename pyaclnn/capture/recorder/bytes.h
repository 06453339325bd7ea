/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that grow, and their encoding: MessagePack; the hash of contents. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "export.h"

struct capture_bytes {
    uint8_t *data;
    size_t length, capacity;
};

/* Memory of the recorder, as realloc's. Once there is none, the recording has ended: what it would
 * lack, nobody would see. */
void *capture_memory(void *data, size_t bytes);
bool capture_is_out_of_memory(void);
/* Make room; false, and nothing is put: out of memory. */
bool capture_room(struct capture_bytes *to, size_t more);
void capture_put(struct capture_bytes *to, const void *data, size_t length);
/* An array of so many, numbers, a text; bytes, or nil for NULL. */
void capture_array(struct capture_bytes *to, uint64_t count);
void capture_number(struct capture_bytes *to, uint64_t value);
void capture_signed(struct capture_bytes *to, int64_t value);
void capture_double(struct capture_bytes *to, uint64_t bits);
void capture_text(struct capture_bytes *to, const char *text, size_t length);
void capture_blob(struct capture_bytes *to, const void *data, size_t length);
CAPTURE_EXPORT uint64_t capture_hash(const void *data, size_t length);
uint32_t capture_type_size(int32_t type);
