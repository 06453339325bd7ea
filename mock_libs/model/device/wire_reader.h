/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of the payloads of the wire protocol. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A reader over an answer; `ok` turns false at the first read beyond the end. */
struct mock_reader {
    const uint8_t *data;
    size_t length, position;
    bool ok;
};

uint32_t mock_read_u32(struct mock_reader *reader);
uint64_t mock_read_u64(struct mock_reader *reader);
/* The bytes of a string, not terminated; its length goes to *length. */
const char *mock_read_string(struct mock_reader *reader, uint32_t *length);
