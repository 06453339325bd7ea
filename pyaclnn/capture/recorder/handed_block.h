/* SPDX-License-Identifier: Apache-2.0 */
/* The block that the recorder's own thread compresses while calls fill the next one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "blocks.h"

/* The lock of the file is held during all of these. */

/* Hand a block over, which is empty then; false: the block before is still here. */
bool capture_hand_over(struct capture_bytes *block);
void capture_wake(void); /* there is other work */
/* Wait for a block or other work, until a time by CLOCK_MONOTONIC. */
void capture_await_handed(uint64_t until);
/* Pack the block, without the lock meanwhile; false: there is none, or another thread has written it. */
bool capture_pack_handed(struct capture_packed *packed);
/* Write the block from this thread, before what comes behind it. Room: as of `capture_pack`. Return the
 * error. */
int capture_append_handed(int file, uint64_t *end, struct capture_bytes *room);
void capture_drop_handed(void); /* written, or nobody wants it any more */
