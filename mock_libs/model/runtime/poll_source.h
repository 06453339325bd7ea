/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets beside those of the devices, by which something may move. */
#ifndef MOCK_POLL_SOURCE_H
#define MOCK_POLL_SOURCE_H

#include <poll.h>
#include <stddef.h>

/* What is beyond these is looked at when a pause ends. */
enum { MOCK_MAX_POLL_SOURCES = 64 };

struct mock_poll_source {
    int descriptor;
    void (*look)(void *owner); /* takes what has come, and never waits */
    void *owner;
    struct mock_poll_source *next;
};

/* Puts the descriptors into a list that has room for some; gives how many. */
size_t mock_poll_source_list(struct pollfd *list, size_t room);
/* Lets every owner look. */
void mock_poll_source_dispatch(void);
/* A child watches nothing that its parent has watched. */
void mock_poll_source_forked(void);

/* Whoever waits looks at a descriptor, too, until it is dropped. */
void mock_poll_source_add(struct mock_poll_source *watch);
void mock_poll_source_remove(struct mock_poll_source *watch);

#endif
