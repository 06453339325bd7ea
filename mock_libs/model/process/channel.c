/* SPDX-License-Identifier: Apache-2.0 */
/* The socket to a device process. */
#include "channel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rlimit.h"

#define FRAME_MAGIC 0x4E4E4C41u
enum { MAX_ANSWER = 1 << 24 };

static const char NO_MEMORY[] = "no memory for its requests and answers";

static bool is_full(ssize_t moved)
{
    return moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

static const char *flush(struct channel *channel)
{
    while (channel->outgoing_length > 0) {
        const ssize_t sent = send(channel->socket, channel->outgoing, channel->outgoing_length,
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
        if (is_full(sent)) {
            return NULL;
        }
        if (sent <= 0) {
            return "its process does not take requests any more";
        }
        channel->outgoing_length -= (size_t)sent;
        memmove(channel->outgoing, channel->outgoing + sent, channel->outgoing_length);
    }
    return NULL;
}

static bool enqueue(struct channel *channel, const void *bytes, size_t length)
{
    uint8_t *larger = realloc(channel->outgoing, channel->outgoing_length + length);
    if (larger == NULL) {
        return false;
    }
    memcpy(larger + channel->outgoing_length, bytes, length);
    channel->outgoing = larger;
    channel->outgoing_length += length;
    return true;
}

const char *mock_channel_send(struct channel *channel, enum mock_request kind, const void *payload,
                              size_t length)
{
    const struct mock_header header = {FRAME_MAGIC, (uint32_t)kind, length};
    if (!enqueue(channel, &header, sizeof header) ||
        (length > 0 && !enqueue(channel, payload, length))) {
        return NO_MEMORY;
    }
    channel->exchanges[kind] = (struct mock_exchange){.busy = true};
    return flush(channel);
}

/* The whole frame is there. */
static void deliver(struct channel *channel)
{
    struct mock_exchange *exchange = &channel->exchanges[channel->header.kind];
    if (exchange->abandoned) {
        free(channel->body);
        *exchange = (struct mock_exchange){0};
    } else {
        exchange->answer = channel->body;
        exchange->length = channel->header.length;
    }
    channel->body = NULL;
    channel->header_bytes = channel->body_bytes = 0;
}

/* After the header: is it one of an answer that is due? */
static const char *begin_body(struct channel *channel)
{
    const struct mock_header *header = &channel->header;
    const bool known = header->kind > 0 && header->kind < MOCK_REQUEST_KINDS;
    if (header->magic != FRAME_MAGIC || !known || header->length > MAX_ANSWER ||
        !channel->exchanges[header->kind].busy ||
        channel->exchanges[header->kind].answer != NULL) {
        return "its process answers nonsense";
    }
    channel->body = malloc(header->length + 1);
    return channel->body == NULL ? NO_MEMORY : NULL;
}

static const char *ended(void)
{
    static char text[256];
    snprintf(text, sizeof text, "its process%s ended", mock_rlimit_describe());
    return text;
}

/* Read into a place; *left: the socket has nothing more. */
static const char *fill(struct channel *channel, void *place, size_t wanted, size_t *got,
                        bool *empty)
{
    while (*got < wanted) {
        const ssize_t received =
            recv(channel->socket, (char *)place + *got, wanted - *got, MSG_DONTWAIT);
        if (is_full(received)) {
            *empty = true;
            return NULL;
        }
        if (received <= 0) {
            return ended();
        }
        *got += (size_t)received;
    }
    return NULL;
}

static const char *read_some(struct channel *channel, bool *empty, bool *answered)
{
    const char *reason = NULL;
    if (channel->body == NULL) {
        reason = fill(channel, &channel->header, sizeof channel->header, &channel->header_bytes,
                      empty);
        reason = reason == NULL && !*empty ? begin_body(channel) : reason;
    }
    if (reason == NULL && channel->body != NULL) {
        reason = fill(channel, channel->body, channel->header.length, &channel->body_bytes, empty);
        if (reason == NULL && channel->body_bytes == channel->header.length) {
            deliver(channel);
            *answered = true;
        }
    }
    return reason;
}

const char *mock_channel_pump(struct channel *channel, bool *answered)
{
    bool empty = false;
    const char *reason = flush(channel);
    *answered = false;
    while (reason == NULL && !empty && !*answered) {
        reason = read_some(channel, &empty, answered);
    }
    return reason;
}

void mock_channel_close(struct channel *channel)
{
    if (channel->connected && channel->socket >= 0) {
        close(channel->socket);
    }
    for (int kind = 0; kind < MOCK_REQUEST_KINDS; kind++) {
        free(channel->exchanges[kind].answer);
    }
    free(channel->outgoing);
    free(channel->body);
    *channel = (struct channel){.socket = -1};
}
