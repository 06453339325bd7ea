/* SPDX-License-Identifier: Apache-2.0 */
/* Joining of a group of ranks. */
#pragma once

#include "communicator.h"

/* The rank that a process requests; `group` distinguishes the groups at one address. */
struct mock_rank_placement {
    const struct mock_address *address;
    const char *group;
    int device;
    uint32_t rank, ranks;
    const char *name; /* NULL: that of the address */
};

/* Request a rank; the answer may wait for the other ranks. */
HcclResult mock_communicator_join(const struct mock_rank_placement *place, struct communicator **joined);
/* Wait until all ranks have joined. If they do not, all of these are deleted. */
HcclResult mock_communicators_await(struct communicator **joined, uint32_t count);
/* Both for the one rank of a process, with the name of a configuration or NULL. */
HcclResult mock_communicator_create(struct mock_rank_placement *place, const HcclCommConfig *config,
                                    HcclComm *comm);
