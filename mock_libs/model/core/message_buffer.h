/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers of messages: memory that several of them may share, and a chain of buffers. */
#pragma once

#include <stdbool.h>

#include "acl/acl.h"
#include "acl/acl_tdt_queue.h"

enum { MOCK_LONGEST_CHAIN = 128, MOCK_USER_BYTES = 96 };

struct shared_bytes {
    unsigned references;
    size_t size;
    uint8_t bytes[];
};

struct message_buffer {
    struct message_buffer *next; /* of all */
    struct message_buffer *chained;
    bool is_chained; /* to another one */
    struct shared_bytes *shared;
    size_t length;
    uint8_t area[MOCK_USER_BYTES]; /* the program's own */
};

struct message_buffer *mock_message_buffer_new(size_t size);
/* Another buffer of the same memory. */
struct message_buffer *mock_message_buffer_reference(const struct message_buffer *buffer);
/* With those chained to it. */
void mock_message_buffer_free(struct message_buffer *buffer);
/* NULL: it is none that lives. */
struct message_buffer *mock_message_buffer_find(const void *handle);
