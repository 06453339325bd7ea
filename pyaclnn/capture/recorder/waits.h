/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of the recorder for copies. */
#pragma once

#include "pending.h"

enum { CAPTURE_PATIENCE_MS = 1000 };

/* Wait for copies up to a number, for so many milliseconds, unless a graph is captured or another thread is
 * held up. Return whether all have arrived. */
bool capture_await_copies(const struct capture_reach *reach, uint64_t until_copy, uint64_t patience);
void capture_await_inputs(uint64_t stream); /* before what runs elsewhere; as long as that is bearable */
void capture_end_stream(uint64_t stream, bool waits); /* the program is about to destroy it */
void capture_end_context(uint64_t context);
void capture_end_contents(void); /* the trace ends */
/* The program gives a device back, and with it all that it has of it; -1: every device. */
void capture_free_room(int32_t device);
/* The process ends: no wait begins any more, and none is on its way. */
void capture_end_waits(void);
/* Return whether no copy is on its way, to the file or at all. */
bool capture_is_at_rest(void);
