/* SPDX-License-Identifier: Apache-2.0 */
/* Where the ranks of a communicator meet: a process of its own, found by the root info. */
#ifndef MOCK_RENDEZVOUS_H
#define MOCK_RENDEZVOUS_H

#include <stdbool.h>

#include "hccl/hccl.h"

/* What the root info begins with, and the name of the socket behind it. */
enum { MOCK_ADDRESS_BYTES = 64 };

struct mock_address {
    char name[MOCK_ADDRESS_BYTES];
};

/* Starts such a process. */
HcclResult mock_rendezvous_open(struct mock_address *address);
/* A socket to it, or -1: it has ended, or never was (mock_fail has been told). */
int mock_rendezvous_connect(const struct mock_address *address);
void mock_address_write(const struct mock_address *address, HcclRootInfo *info);
/* false: no root info of this simulated NPU. */
bool mock_address_read(const HcclRootInfo *info, struct mock_address *address);
/* Takes note of those that have ended. */
void mock_rendezvous_collect(void);
/* A child has none of its parent's. */
void mock_rendezvous_forked(void);

#endif
