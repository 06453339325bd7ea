/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that writes what waits to be written. */
#include "ticker.h"

#include <stdbool.h>

#include "arrived.h"
#include "clock.h"
#include "file.h"
#include "locks.h"
#include "threads.h"

enum { TICK_MS = 100 };

static bool ticking;

/* A block is written a tenth of a second after its first record, though no other call arrives; a call
 * that has not returned in a second may never do so. */
static void *tick(void *unused)
{
    while (capture_active()) {
        capture_tick(capture_time_in(TICK_MS));
        capture_write_arrived();
    }
    __atomic_store_n(&ticking, false, __ATOMIC_RELEASE);
    return unused;
}

void capture_keep_ticking(void)
{
    if (!__atomic_load_n(&ticking, __ATOMIC_RELAXED) &&
        !__atomic_exchange_n(&ticking, true, __ATOMIC_ACQUIRE)) {
        capture_start_thread(tick); /* without it other calls write the blocks */
    }
}

/* A child of a fork has none of the other threads. */
static void forget_thread(void)
{
    ticking = false;
}
CAPTURE_IN_CHILD(forget_thread)
