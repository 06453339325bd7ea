/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets that are polled during waits, beside those of the devices. */
#pragma once

#include <poll.h>
#include <stddef.h>

/* Further ones are polled when a pause ends. */
enum { MOCK_MAX_POLL_SOURCES = 64 };

struct mock_poll_source {
    int descriptor;
    void (*look)(void *owner); /* reads available data, and never waits */
    void *owner;
    struct mock_poll_source *next;
};

/* Copy the descriptors into a list with limited room; returns how many. */
size_t mock_poll_source_list(struct pollfd *list, size_t room);
/* Call every owner. */
void mock_poll_source_dispatch(void);
/* Drop the sources of the parent in a forked child. */
void mock_poll_source_forked(void);

/* Add a descriptor to every wait, until it is removed. */
void mock_poll_source_add(struct mock_poll_source *watch);
void mock_poll_source_remove(struct mock_poll_source *watch);
