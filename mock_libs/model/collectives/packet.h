/* SPDX-License-Identifier: Apache-2.0 */
/* Packets between a rank and the rendezvous process, in the layout of these structs. */
#pragma once

#include "hccl/hccl.h"

enum { MOCK_PACKET_VERSION = 1, MOCK_PACKET_TEXT = 1024, MOCK_OPERATION_NAME = 24 };

enum mock_packet { MOCK_JOIN = 1, MOCK_MEMORY, MOCK_SUBMIT, MOCK_LEAVE };

struct mock_join_packet {
    uint32_t kind, version, rank, ranks;
    int32_t device;
    uint32_t group_bytes; /* of the group's name, behind this */
};

/* With the descriptor of the memory. */
struct mock_memory_packet {
    uint32_t kind, unused;
    uint64_t base, bytes;
};

struct mock_submit_packet {
    uint32_t kind, number, wrong, parts;
    char abort_reason[128]; /* why the rank does not take part, or empty */
};

/* A part of a submission, followed by its lists of counts and displacements. */
struct mock_part_packet {
    char operation[MOCK_OPERATION_NAME];
    uint32_t data_type, reduction, peer, lists;
    uint64_t count, send, receive, sequence;
};

enum mock_answer { MOCK_WELCOME = 1, MOCK_DONE, MOCK_AWAITED, MOCK_BROKEN };

struct mock_answer_packet {
    uint32_t kind, number, result, flag;
    char text[MOCK_PACKET_TEXT];
};
