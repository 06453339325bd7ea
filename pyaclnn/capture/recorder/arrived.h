/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that have arrived, until the recorder's own thread has hashed and written them. */
#pragma once

#include "pending.h"

/* Let the recorder's thread write copies, so that the program's own goes on. */
void capture_hand_arrived(struct capture_pending *taken);
/* Write what was handed over, from this thread. */
void capture_write_arrived(void);
/* The same, and wait for what other threads are writing: nothing reads memory of CANN any more. */
void capture_settle(void);
bool capture_is_settled(void);
