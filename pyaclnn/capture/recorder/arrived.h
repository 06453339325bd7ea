/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that have arrived, until the recorder's own thread has hashed and written them. */
#pragma once

#include "pending.h"

/* Have copies written that have arrived; those of a stream that failed are written in full. */
void capture_finish(struct capture_pending *taken, bool failed);
/* Give up copies that are not waited for. Their memory stays: a device may yet write it. */
void capture_lose(struct capture_pending *taken);
/* Write what has arrived, from this thread. */
void capture_write_arrived(void);
/* The same, and wait for what other threads are writing: nothing reads memory of CANN any more. */
void capture_settle(void);
bool capture_is_settled(void);
/* Give other threads a moment to write it, from a handler of a signal. */
void capture_await_settled(void);
