/* SPDX-License-Identifier: Apache-2.0 */
/* Becoming a rank of a group. */
#ifndef MOCK_COMMUNICATOR_JOIN_H
#define MOCK_COMMUNICATOR_JOIN_H

#include "communicator.h"

/* The place that a rank asks for; `group` tells apart the groups at one address. */
struct mock_rank_placement {
    const struct mock_address *address;
    const char *group;
    int device;
    uint32_t rank, ranks;
    const char *name; /* NULL: that of the address */
};

/* Asks for a place; others may have to come before there is an answer. */
HcclResult mock_communicator_join(const struct mock_rank_placement *place, struct communicator **joined);
/* Waits until all ranks have come. Where they do not, all of these are deleted. */
HcclResult mock_communicators_await(struct communicator **joined, uint32_t count);

#endif
