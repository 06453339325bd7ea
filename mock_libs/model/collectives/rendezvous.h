/* SPDX-License-Identifier: Apache-2.0 */
/* Rendezvous of the ranks of a communicator: a process of its own, found by the root info. */
#pragma once

#include <stdbool.h>

#include "hccl/hccl.h"

/* Bytes of the root info: a prefix, and the name of the socket. */
enum { MOCK_ADDRESS_BYTES = 64 };

struct mock_address {
    char name[MOCK_ADDRESS_BYTES];
};

/* Start such a process. */
HcclResult mock_rendezvous_open(struct mock_address *address);
/* Start it at this address, unless another process has. */
HcclResult mock_rendezvous_share(const struct mock_address *address);
/* Connect to it; -1 after mock_fail: it has ended, or never existed. */
int mock_rendezvous_connect(const struct mock_address *address);
void mock_address_write(const struct mock_address *address, HcclRootInfo *info);
/* false: no root info of this simulated NPU. */
bool mock_address_read(const HcclRootInfo *info, struct mock_address *address);
/* Reap those that have ended. */
void mock_rendezvous_collect(void);
/* Drop those of the parent in a forked child. */
void mock_rendezvous_forked(void);
