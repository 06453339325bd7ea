/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the host that a device writes without a wait. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture_pinned {
    uint8_t *data; /* NULL: there is none */
    bool own;      /* a block of its own */
    uint8_t class; /* of its size, in arenas */
};

/* Take memory, which the program can ask for only while it has a device, and give it back. */
bool capture_has_room(size_t size); /* in arenas */
struct capture_pinned capture_pin(size_t size);
void capture_unpin(const struct capture_pinned *memory);
/* Free what the memory is of, unless some of it is taken. */
void capture_free_pinned(void);
