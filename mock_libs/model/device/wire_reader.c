/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of the payloads of the wire protocol. */
#include "wire_reader.h"

#include <string.h>

uint32_t mock_read_u32(struct mock_reader *reader)
{
    uint32_t value = 0;
    if (!reader->ok || reader->length - reader->position < sizeof value) {
        reader->ok = false;
        return 0;
    }
    memcpy(&value, reader->data + reader->position, sizeof value);
    reader->position += sizeof value;
    return value;
}

uint64_t mock_read_u64(struct mock_reader *reader)
{
    const uint64_t low = mock_read_u32(reader);
    return low | (uint64_t)mock_read_u32(reader) << 32;
}

const char *mock_read_string(struct mock_reader *reader, uint32_t *length)
{
    *length = mock_read_u32(reader);
    if (!reader->ok || reader->length - reader->position < *length) {
        reader->ok = false;
        *length = 0;
        return "";
    }
    const char *text = (const char *)reader->data + reader->position;
    reader->position += *length;
    return text;
}
