/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets that are polled during waits, beside those of the devices. */
#include "poll_source.h"

#include "lock.h"

static struct mock_poll_source *watches;

size_t mock_poll_source_list(struct pollfd *list, size_t room)
{
    size_t count = 0;
    for (struct mock_poll_source *each = watches; each != NULL && count < room; each = each->next) {
        list[count++] = (struct pollfd){.fd = each->descriptor, .events = POLLIN};
    }
    return count;
}

void mock_poll_source_dispatch(void)
{
    for (struct mock_poll_source *each = watches; each != NULL; each = each->next) {
        each->look(each->owner);
    }
}

void mock_poll_source_forked(void)
{
    watches = NULL;
}

void mock_poll_source_add(struct mock_poll_source *watch)
{
    watch->next = watches;
    watches = watch;
    mock_lock_enable_polling();
}

void mock_poll_source_remove(struct mock_poll_source *watch)
{
    struct mock_poll_source **link = &watches;
    while (*link != NULL && *link != watch) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = watch->next;
        mock_lock_disable_polling();
    }
}
