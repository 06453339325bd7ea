/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets beside those of the devices, by which something may move. */
#ifndef MOCK_WATCH_H
#define MOCK_WATCH_H

#include <poll.h>
#include <stddef.h>

/* What is beyond these is looked at when a pause ends. */
enum { MOCK_MOST_WATCHES = 64 };

struct mock_watch {
    int descriptor;
    void (*look)(void *owner); /* takes what has come, and never waits */
    void *owner;
    struct mock_watch *next;
};

/* Puts the descriptors into a list that has room for some; gives how many. */
size_t mock_watch_list(struct pollfd *list, size_t room);
/* Lets every owner look. */
void mock_watch_look(void);
/* A child watches nothing that its parent has watched. */
void mock_watch_forked(void);

/* Whoever waits looks at a descriptor, too, until it is dropped. */
void mock_watch_add(struct mock_watch *watch);
void mock_watch_drop(struct mock_watch *watch);

#endif
