/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of a kernel on the host, which the launches that a graph repeats share. */
#include "shared_arguments.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct shared {
    size_t users;
    max_align_t bytes[];
};

static struct shared *shared_of(uint8_t *copy)
{
    return (struct shared *)(void *)(copy - offsetof(struct shared, bytes));
}

uint8_t *mock_shared_arguments(const struct mock_kernel_arguments *arguments)
{
    struct shared *made = malloc(sizeof *made + arguments->bytes + 1);
    if (made == NULL) {
        return NULL;
    }
    made->users = 1;
    uint8_t *copy = (uint8_t *)made->bytes;
    if (arguments->bytes > 0) {
        memcpy(copy, arguments->data, arguments->bytes);
    }
    for (size_t i = 0; i < arguments->holder_count; i++) {
        const uint8_t *data = copy + arguments->holders[i].dataOffset;
        memcpy(copy + arguments->holders[i].addrOffset, &data, sizeof data);
    }
    return copy;
}

void mock_shared_arguments_use(uint8_t *copy)
{
    if (copy != NULL) {
        shared_of(copy)->users++;
    }
}

void mock_shared_arguments_drop(uint8_t *copy)
{
    if (copy != NULL && --shared_of(copy)->users == 0) {
        free(shared_of(copy));
    }
}
