/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are on their way: each thread's, which may never return. */
#pragma once

#include <stdint.h>

/* A call of this thread begins, and has returned; its thread ends. */
void capture_depart(uint64_t call, const char *name, uint32_t thread, uint64_t begin);
void capture_return(void);
void capture_leave_flights(void);
/* Append the calls that began before a time and have not returned to a file, each once. It asks for no
 * memory, which a handler of a signal cannot. */
void capture_append_flights(int file, uint64_t *end, uint64_t before);
