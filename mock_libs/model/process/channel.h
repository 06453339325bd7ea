/* SPDX-License-Identifier: Apache-2.0 */
/* The socket to a device process: whole frames in both directions, and never waiting for it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The frames of the protocol between this process and the device process. */
enum mock_request {
    MOCK_HELLO = 1,
    MOCK_CHECK,
    MOCK_RUN,
    MOCK_BYE,
    MOCK_FORGET,
    MOCK_REQUEST_KINDS
};

struct mock_header {
    uint32_t magic, kind;
    uint64_t length;
};

/* At most one request of each kind is in progress; the answers come in any order. */
struct mock_exchange {
    bool busy;
    bool abandoned;  /* the answer will be dropped */
    uint8_t *answer; /* NULL: there is none yet */
    size_t length;
};

struct channel {
    bool connected;
    int socket;
    uint8_t *outgoing; /* what the socket has not taken yet */
    size_t outgoing_length;
    struct mock_header header; /* of the frame that is coming in */
    size_t header_bytes, body_bytes;
    uint8_t *body;
    struct mock_exchange exchanges[MOCK_REQUEST_KINDS];
};

/* Both give NULL, or why the other end is not to be used any more. */
const char *mock_channel_send(struct channel *channel, enum mock_request kind, const void *payload,
                              size_t length);
/* Move what can be moved now; true in *answered: an answer has come. */
const char *mock_channel_pump(struct channel *channel, bool *answered);
/* Forget everything and closes the socket. */
void mock_channel_close(struct channel *channel);
