/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are on their way: each thread's, which may never return. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { CAPTURE_FLIGHT = 320 };

/* A call of this thread begins, and has returned; its thread ends. */
void capture_depart(uint64_t call, const char *name, uint32_t thread, uint64_t begin);
void capture_return(void);
void capture_leave_flights(void);
/* Put the record of the next call on its way that began before a time, from a place on; each once.
 * Return its length, or 0. It asks for no memory, which a handler of a signal cannot. */
size_t capture_flight(size_t *at, uint64_t before, uint8_t record[CAPTURE_FLIGHT]);
