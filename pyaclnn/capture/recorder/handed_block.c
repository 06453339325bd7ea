/* SPDX-License-Identifier: Apache-2.0 */
/* The block that the recorder's own thread compresses while calls fill the next one. */
#include "handed_block.h"

#include <pthread.h>

#include "locks.h"

static pthread_mutex_t *const lock = &capture_locks[CAPTURE_FILE];
static pthread_cond_t given;
static struct capture_bytes handed, room; /* no bytes: none is handed over */
static bool woken;   /* by other work */
static bool packing; /* without the lock: the bytes stay as they are, though another thread may write them */

__attribute__((constructor)) static void start(void)
{
    capture_make_condition(&given);
}

bool capture_hand_over(struct capture_bytes *block)
{
    if (packing || handed.length != 0) {
        return false;
    }
    const struct capture_bytes empty = handed;
    handed = *block;
    *block = empty;
    pthread_cond_signal(&given);
    return true;
}

void capture_wake(void)
{
    woken = true;
    pthread_cond_signal(&given);
}

void capture_await_handed(uint64_t until)
{
    if (handed.length == 0 && !woken) {
        capture_await_until(&given, lock, until);
    }
    woken = false;
}

bool capture_pack_handed(struct capture_packed *packed)
{
    if (handed.length == 0) {
        return false;
    }
    const size_t length = handed.length;
    packing = true;
    capture_prepare_packing(&room, length); /* with the lock, so that a fork finds the room whole */
    pthread_mutex_unlock(lock);
    *packed = capture_pack(handed.data, length, &room);
    pthread_mutex_lock(lock);
    packing = false;
    return handed.length != 0;
}

int capture_append_handed(int file, uint64_t *end, struct capture_bytes *to)
{
    const size_t length = handed.length;
    capture_drop_handed();
    return length == 0 ? 0 : capture_append_block(file, end, handed.data, length, to);
}

void capture_drop_handed(void)
{
    handed.length = 0;
}

/* A child of a fork has no thread that packs. */
static void forget_handed(void)
{
    capture_make_condition(&given);
    woken = packing = false;
    handed.length = 0;
}
CAPTURE_IN_CHILD(forget_handed)
