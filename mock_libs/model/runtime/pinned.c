/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks of aclrtMallocHost, and those that were freed last. */
#include "pinned.h"

#include <stdlib.h>
#include <string.h>

#include "poison.h"

static struct pinned *pinned;

/* The blocks that were freed last. */
enum { FREED = 64 };
static struct pinned freed[FREED];
static size_t freed_count;

void *mock_pinned_allocate(size_t size)
{
    struct pinned *item = calloc(1, sizeof *item);
    void *memory = NULL;
    if (item == NULL || posix_memalign(&memory, 4096, size) != 0) {
        free(item);
        return NULL;
    }
    memset(memory, MOCK_FRESH & 0xFF, size);
    *item = (struct pinned){memory, size, pinned, {.created = mock_origin_now()}, false};
    pinned = item;
    return memory;
}

static struct pinned **link_to(const void *address)
{
    struct pinned **link = &pinned;
    while (*link != NULL && (*link)->address != address) {
        link = &(*link)->next;
    }
    return link;
}

const struct pinned *mock_pinned_find(const void *address)
{
    return *link_to(address);
}

void mock_pinned_free(const void *address)
{
    struct pinned **link = link_to(address), *item = *link;
    if (item != NULL) {
        *link = item->next;
        item->history.destroyed = mock_origin_now();
        freed[freed_count++ % FREED] = *item;
        free(item->address);
        free(item);
    }
}

const struct pinned *mock_pinned_freed(const void *address)
{
    for (size_t back = 1; back <= FREED && back <= freed_count; back++) {
        const struct pinned *item = &freed[(freed_count - back) % FREED];
        if (item->address == address) {
            return item;
        }
    }
    return NULL;
}

bool mock_host_is_pinned(const void *address, uint64_t bytes)
{
    const uintptr_t start = (uintptr_t)address;
    const struct pinned *item = pinned;
    while (item != NULL && start - (uintptr_t)item->address >= item->size) {
        item = item->next;
    }
    return item != NULL && bytes <= item->size - (start - (uintptr_t)item->address);
}

void mock_pinned_each(void (*visit)(struct pinned *block))
{
    for (struct pinned *item = pinned; item != NULL; item = item->next) {
        visit(item);
    }
}
