/* SPDX-License-Identifier: Apache-2.0 */
/* Talking to the device process, and noticing its death. */
#include "wire.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "message.h"

#define FRAME_MAGIC 0x4E4E4C41u
enum { MOST_ANSWER = 1 << 24 };

struct frame {
    uint32_t magic, kind;
    uint64_t length;
};

/* The first reason stays: what fails after it is a consequence. */
static bool lose(struct device *device, const char *reason)
{
    if (!device->lost) {
        device->lost = true;
        device->loss = reason;
    }
    mock_fail(ACL_ERROR_RT_LOST_HEARTBEAT,
              "device %d is lost: %s; reset the device or restart the program", device->id,
              device->loss);
    return false;
}

static bool send_all(struct device *device, const void *data, size_t length, int flags)
{
    const char *bytes = data;
    while (length > 0) {
        const ssize_t sent = send(device->socket, bytes, length, MSG_NOSIGNAL | flags);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            return lose(device, "its process does not take requests any more");
        }
        bytes += sent;
        length -= (size_t)sent;
    }
    return true;
}

static bool receive_all(struct device *device, void *data, size_t length)
{
    char *bytes = data;
    while (length > 0) {
        const ssize_t received = recv(device->socket, bytes, length, MSG_WAITALL);
        if (received < 0 && errno == EINTR) {
            continue;
        }
        if (received <= 0) {
            return lose(device, "its process ended while it was working");
        }
        bytes += received;
        length -= (size_t)received;
    }
    return true;
}

bool mock_device_request(struct device *device, enum mock_request kind, const void *payload,
                         size_t length, const uint8_t **answer, size_t *answer_length)
{
    if (device->lost) {
        return lose(device, "its process is gone");
    }
    struct frame frame = {FRAME_MAGIC, (uint32_t)kind, length};
    if (!send_all(device, &frame, sizeof frame, length > 0 ? MSG_MORE : 0) ||
        !send_all(device, payload, length, 0) || !receive_all(device, &frame, sizeof frame)) {
        return false;
    }
    if (frame.magic != FRAME_MAGIC || frame.kind != (uint32_t)kind || frame.length > MOST_ANSWER) {
        return lose(device, "its process answers nonsense");
    }
    if (frame.length > device->answer_capacity) {
        uint8_t *larger = realloc(device->answer, frame.length);
        if (larger == NULL) {
            return lose(device, "no memory for its answer");
        }
        device->answer = larger;
        device->answer_capacity = frame.length;
    }
    *answer = device->answer;
    *answer_length = frame.length;
    return receive_all(device, device->answer, frame.length);
}

aclError mock_device_alive(struct device *device)
{
    char byte;
    if (!device->lost) {
        /* Between requests the device process says nothing: readable means that it is gone. */
        const ssize_t got = recv(device->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            return ACL_SUCCESS;
        }
    }
    lose(device, "its process is gone");
    return ACL_ERROR_RT_LOST_HEARTBEAT;
}
