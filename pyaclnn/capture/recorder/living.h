/* SPDX-License-Identifier: Apache-2.0 */
/* What the program has made and not ended: the calls that made it, for a file that begins later. */
#pragma once

#include <stdbool.h>

#include "bytes.h"

/* A record of a call, the number of its function, and the last file that has it. */
struct capture_call {
    struct capture_bytes record;
    uint32_t number, file;
};

/* Entries are calls, one behind the other. Add a call, if there is one, or those that have made
 * something: with what ends with it, each in its order. */
void capture_add_call(struct capture_bytes *entries, const struct capture_call *call);
void capture_add_makers(struct capture_bytes *entries, uint64_t key);
/* Keep the calls that made something, and the keys of what ends with it; if they have found it,
 * unless it is kept. */
void capture_keep(uint64_t key, const struct capture_bytes *entries, const void *keys, size_t count,
                  bool found);
/* Keep something that may be used again, and the call that said so. */
void capture_keep_lasting(uint64_t key, const struct capture_call *call);
void capture_forget(uint64_t key, bool used); /* used: unless it lasts */
/* Draw calls into the graph that is captured, behind those that made what they use. */
void capture_draw(const struct capture_bytes *entries, const uint64_t *keys, size_t count);
/* Keep the graph, or, if it is 0, forget what was drawn. */
void capture_keep_drawn(uint64_t graph);
/* Write the calls that made what is alive, in their order. */
void capture_put_living(void (*put)(uint32_t number, const uint8_t *data, size_t length));
