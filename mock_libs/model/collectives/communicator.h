/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators: a rank of a group, and its socket to the rendezvous process. */
#pragma once

#include "frame.h"
#include "poll_source.h"
#include "rendezvous.h"

struct communicator;

/* An operation of several ranks, queued on a stream. */
struct submission {
    struct communicator *communicator; /* NULL: destroyed meanwhile */
    struct submission *next;           /* of the same communicator */
    uint32_t number; /* 0: it is captured, and not queued */
    bool sent, over; /* sent: or nothing is to be, as long as it is not queued */
    struct mock_origin origin;
    void *stream;
    uint64_t position;
    uint8_t *packet;
    size_t length, parts;
    HcclResult result;
    char text[1024];
};

struct communicator {
    HcclComm handle;
    struct communicator *next;
    struct mock_address address;
    struct mock_poll_source watch;
    int socket; /* -1: it has left */
    int device;
    uint32_t rank, ranks;
    char name[COMM_NAME_MAX_LENGTH];
    bool answered, distributed; /* all have joined, or cannot; ranks of other processes are among them */
    bool awaited;               /* another rank waits for something of this one */
    HcclResult refusal;         /* why it may not join */
    HcclResult asynchronous;
    char text[1024]; /* of the latter two */
    uint64_t session; /* of the device whose memory was sent */
    uint32_t submissions;
    uint64_t collectives;
    uint64_t *sends, *receives; /* to and from each rank */
    struct submission *queued;
};

/* All of the process. */
struct communicator *mock_communicators(void);
/* That of a group's name on a device, or NULL. */
struct communicator *mock_communicator_named(const char *name, int device);
/* NULL: no host memory. Its socket is then still the caller's. */
struct communicator *mock_communicator_new(const struct mock_address *address, int socket,
                                           int device, uint32_t rank, uint32_t ranks);
/* Leave the group; what is still queued fails. */
void mock_communicator_delete(struct communicator *communicator);
/* Process received packets; never waits. */
void mock_communicator_poll(struct communicator *communicator);
/* Send a packet, with a descriptor unless that is -1. */
void mock_communicator_send(struct communicator *communicator, const void *packet, size_t length,
                            int descriptor);
/* Leave all groups at the end of the process. */
void mock_communicators_leave(void);
/* Drop the communicators of the parent in a forked child. */
void mock_communicators_forked(void);
/* The communicator of a handle, or NULL after mock_fail. */
struct communicator *mock_communicator_find(HcclComm handle);
