/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets beside those of the devices, by which something may move. */
#include "watch.h"

#include "lock.h"

static struct mock_watch *watches;

size_t mock_watch_list(struct pollfd *list, size_t room)
{
    size_t count = 0;
    for (struct mock_watch *each = watches; each != NULL && count < room; each = each->next) {
        list[count++] = (struct pollfd){.fd = each->descriptor, .events = POLLIN};
    }
    return count;
}

void mock_watch_look(void)
{
    for (struct mock_watch *each = watches; each != NULL; each = each->next) {
        each->look(each->owner);
    }
}

void mock_watch_forked(void)
{
    watches = NULL;
}

void mock_watch_add(struct mock_watch *watch)
{
    watch->next = watches;
    watches = watch;
    mock_lock_await();
}

void mock_watch_drop(struct mock_watch *watch)
{
    struct mock_watch **link = &watches;
    while (*link != NULL && *link != watch) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = watch->next;
        mock_lock_forget();
    }
}
