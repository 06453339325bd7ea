/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding of records: numbers of seven bits a byte, lowest first, and the hash of contents. */
#include <stdlib.h>
#include <string.h>

#include "recorder.h"

void capture_room(struct capture_bytes *to, size_t more)
{
    if (to->length + more > to->capacity) {
        const size_t capacity = 2 * (to->length + more) + 4096;
        uint8_t *data = realloc(to->data, capacity);
        if (data == NULL) {
            abort(); /* a trace with holes that nobody sees would be worse */
        }
        to->data = data;
        to->capacity = capacity;
    }
}

void capture_put(struct capture_bytes *to, const void *data, size_t length)
{
    capture_room(to, length);
    if (length != 0) {
        memcpy(to->data + to->length, data, length);
    }
    to->length += length;
}

void capture_number(struct capture_bytes *to, uint64_t value)
{
    capture_room(to, 10);
    while (value >= 0x80) {
        to->data[to->length++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    to->data[to->length++] = (uint8_t)value;
}

void capture_signed(struct capture_bytes *to, int64_t value)
{
    capture_number(to, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

/* The length and one, then the bytes; 0 for no text. */
void capture_text(struct capture_bytes *to, const char *text)
{
    const size_t length = text == NULL ? 0 : strlen(text);
    capture_number(to, text == NULL ? 0 : length + 1);
    capture_put(to, text, length);
}

/* Four lanes of multiplication and rotation, so that memory is the limit. */
uint64_t capture_hash(const void *data, size_t length)
{
    static const uint64_t FACTOR = 0x9E3779B185EBCA87U;
    uint64_t lanes[4] = {1, 2, 3, 4}, word;
    const uint8_t *from = data;
    size_t left = length;
    for (; left >= 32; left -= 32, from += 32) {
        for (size_t i = 0; i < 4; i++) {
            memcpy(&word, from + 8 * i, 8);
            lanes[i] = (lanes[i] ^ word) * FACTOR;
            lanes[i] = lanes[i] << 31 | lanes[i] >> 33;
        }
    }
    uint64_t hash = length * FACTOR;
    for (size_t i = 0; i < 4; i++) {
        hash = (hash ^ lanes[i]) * FACTOR;
        hash ^= hash >> 29;
    }
    for (; left > 0; left--) {
        hash = (hash ^ *from++) * FACTOR;
        hash ^= hash >> 32;
    }
    return hash;
}

/* The bytes of an element of an aclDataType, or 0. */
uint32_t capture_type_size(int32_t type)
{
    static const uint8_t SIZES[] = {4, 2, 1, 4, 1, 0, 2, 2, 4, 8, 8, 8, 1, 0, 0, 0, 8, 16};
    if (type == 27) {
        return 2; /* bfloat16 */
    }
    if (type >= 34 && type <= 37) {
        return 1; /* floats of eight bits */
    }
    return type >= 0 && (size_t)type < sizeof SIZES ? SIZES[type] : 0;
}
