/* SPDX-License-Identifier: Apache-2.0 */
/* Records that wait for their copies. */
#pragma once

#include "contents.h"
#include "known.h"

/* Where a thread calls. */
struct capture_place {
    uint64_t context;
    int32_t device;
};

/* A record that waits for its copy, of which it may not be the first. */
struct capture_pending {
    struct capture_pending *next;
    uint64_t call, stream;
    uint64_t order; /* its number among all copies; 0: not yet on the list */
    uint64_t size; /* of the copy that was made for it; 0: another's serves */
    struct capture_place place;
    struct capture_operand of;
    enum capture_phase phase;
    bool full;
    struct capture_image *image;
};

/* Which records: of a stream in a context (a default stream has the same handle in each), of a context,
 * of a device, or all. */
struct capture_reach {
    enum { CAPTURE_OF_STREAM, CAPTURE_OF_CONTEXT, CAPTURE_OF_DEVICE, CAPTURE_OF_ALL } kind;
    uint64_t context;
    uint64_t stream;
    int32_t device;
};

struct capture_reach capture_of_stream(uint64_t stream); /* in the current context */
bool capture_is_within(const struct capture_reach *reach, uint64_t stream, const struct capture_place *place);

/* True if records may be within both. */
bool capture_overlap(const struct capture_reach *a, const struct capture_reach *b);

struct capture_amount {
    size_t count, bytes;
};

void capture_append_pending(struct capture_pending *one);
void capture_append_all_pending(struct capture_pending *list);
uint64_t capture_begun_pending(void); /* copies until now: the number of the last one */
/* Take records off the list whose copies have at most a number. */
struct capture_pending *capture_take_pending(const struct capture_reach *reach, uint64_t until);
bool capture_is_pending(struct capture_amount more_than);
size_t capture_pending_count(void);
/* A call has failed: what it reads is not only hashed. */
void capture_keep_in_full(uint64_t call);
