/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of messages. */
#include "message_buffer.h"

#include <stdlib.h>
#include <string.h>

static struct message_buffer *all;

struct message_buffer *mock_message_buffer_find(const void *handle)
{
    struct message_buffer *buffer = all;
    while (buffer != NULL && buffer != handle) {
        buffer = buffer->next;
    }
    return buffer;
}

static struct message_buffer *enlist(struct shared_bytes *shared)
{
    struct message_buffer *buffer = calloc(1, sizeof *buffer);
    if (buffer != NULL) {
        buffer->shared = shared;
        shared->references++;
        buffer->next = all;
        all = buffer;
    }
    return buffer;
}

struct message_buffer *mock_message_buffer_new(size_t size)
{
    struct shared_bytes *shared =
        size > SIZE_MAX - sizeof *shared ? NULL : calloc(1, sizeof *shared + size);
    struct message_buffer *buffer = NULL;
    if (shared != NULL) {
        shared->size = size;
        buffer = enlist(shared);
    }
    if (buffer == NULL) {
        free(shared);
    }
    return buffer;
}

struct message_buffer *mock_message_buffer_reference(const struct message_buffer *buffer)
{
    struct message_buffer *made = enlist(buffer->shared);
    if (made != NULL) {
        made->length = buffer->length;
        memcpy(made->area, buffer->area, sizeof made->area);
    }
    return made;
}

void mock_message_buffer_free(struct message_buffer *buffer)
{
    while (buffer != NULL) {
        struct message_buffer *rest = buffer->chained, **place = &all;
        while (*place != buffer) {
            place = &(*place)->next;
        }
        *place = buffer->next;
        if (--buffer->shared->references == 0) {
            free(buffer->shared);
        }
        free(buffer);
        buffer = rest;
    }
}
