/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding of records, MessagePack, and the hash of contents. */
#include "bytes.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t FACTOR = 0x9E3779B185EBCA87U;
static bool out_of_memory;

void *capture_memory(void *data, size_t bytes)
{
    void *made = realloc(data, bytes);
    if (made == NULL) {
        __atomic_store_n(&out_of_memory, true, __ATOMIC_RELEASE);
    }
    return made;
}

bool capture_is_out_of_memory(void)
{
    return __atomic_load_n(&out_of_memory, __ATOMIC_ACQUIRE);
}

bool capture_room(struct capture_bytes *to, size_t more)
{
    if (to->length + more > to->capacity) {
        const size_t capacity = 2 * (to->length + more) + 512;
        uint8_t *data = capture_memory(to->data, capacity);
        if (data == NULL) {
            return false;
        }
        to->data = data;
        to->capacity = capacity;
    }
    return true;
}

void capture_put(struct capture_bytes *to, const void *data, size_t length)
{
    if (length != 0 && capture_room(to, length)) {
        memcpy(to->data + to->length, data, length);
        to->length += length;
    }
}

/* A tag, and the lowest bytes of a number behind it, the highest first. */
static void put_word(struct capture_bytes *to, uint8_t tag, uint64_t value, size_t bytes)
{
    if (!capture_room(to, 1 + bytes)) {
        return;
    }
    to->data[to->length++] = tag;
    while (bytes-- > 0) {
        to->data[to->length++] = (uint8_t)(value >> 8 * bytes);
    }
}

void capture_array(struct capture_bytes *to, uint64_t count)
{
    if (count < 16) {
        put_word(to, (uint8_t)(0x90 | count), 0, 0);
    } else {
        put_word(to, 0xDD, count, 4);
    }
}

void capture_number(struct capture_bytes *to, uint64_t value)
{
    if (value < 0x80) {
        put_word(to, (uint8_t)value, 0, 0);
    } else if (value <= UINT8_MAX) {
        put_word(to, 0xCC, value, 1);
    } else if (value <= UINT16_MAX) {
        put_word(to, 0xCD, value, 2);
    } else if (value <= UINT32_MAX) {
        put_word(to, 0xCE, value, 4);
    } else {
        put_word(to, 0xCF, value, 8);
    }
}

void capture_signed(struct capture_bytes *to, int64_t value)
{
    if (value >= 0) {
        capture_number(to, (uint64_t)value);
    } else if (value >= -32) {
        put_word(to, (uint8_t)value, 0, 0);
    } else {
        put_word(to, 0xD3, (uint64_t)value, 8);
    }
}

void capture_double(struct capture_bytes *to, uint64_t bits)
{
    put_word(to, 0xCB, bits, 8);
}

void capture_text(struct capture_bytes *to, const char *text, size_t length)
{
    put_word(to, 0xDB, length, 4);
    capture_put(to, text, length);
}

void capture_blob(struct capture_bytes *to, const void *data, size_t length)
{
    if (data == NULL) {
        put_word(to, 0xC0, 0, 0);
        return;
    }
    put_word(to, 0xC6, length, 4);
    capture_put(to, data, length);
}

static uint64_t turn(uint64_t lane, const uint8_t *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    lane = (lane ^ word) * FACTOR;
    return lane << 31 | lane >> 33;
}

/* Four lanes of multiplication and rotation, in registers, so that memory is the limit. */
uint64_t capture_hash(const void *data, size_t length)
{
    uint64_t first = 1, second = 2, third = 3, fourth = 4;
    const uint8_t *from = data;
    size_t left = length;
    for (; left >= 32; left -= 32, from += 32) {
        first = turn(first, from);
        second = turn(second, from + 8);
        third = turn(third, from + 16);
        fourth = turn(fourth, from + 24);
    }
    const uint64_t lanes[] = {first, second, third, fourth};
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
