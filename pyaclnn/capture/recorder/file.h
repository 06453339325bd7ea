/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a process: blocks, each whole or not there. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "objects.h"

/* Begin a trace; its file is made with its first call. False: one has begun, or the path is long. */
bool capture_open(const char *path, const char *options);
void capture_close(void);
/* A signal ends the process: write what is in memory, as the lock permits. */
void capture_interrupt(int signal);
/* Write what is handed over until a time by CLOCK_MONOTONIC, and what has waited for long. */
void capture_tick(uint64_t until);
bool capture_active(void);
uint64_t capture_next_call(void);
bool capture_wanted(uint64_t call);
bool capture_is_of_trace(uint64_t call); /* not of the one before */
/* Write a record that is no call's. */
void capture_write(const struct capture_bytes *record);
/* Write a call, behind the one that chose its place, unless the file has that. Of this and the next
 * two the lock of the file is held. */
void capture_write_call(struct capture_call *call, struct capture_object *place, bool flush);
bool capture_has_begun(uint64_t call); /* the file is there, and not ended before a call */
void capture_end_if_failed(void);      /* no memory was left: say so, and record no more */
bool capture_is_full(void); /* the file is due to be rotated */
/* Begin the next file, if this one is full: settled, or far beyond it. */
void capture_rotate(bool settled);
