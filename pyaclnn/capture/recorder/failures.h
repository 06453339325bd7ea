/* SPDX-License-Identifier: Apache-2.0 */
/* Failures of streams that a wait of the recorder was told of, until the program waits. */
#pragma once

#include "pending.h"

enum { CAPTURE_TIMED_OUT = 507046 };
/* True if a status of a wait is that of work which has failed; others are of the wait itself. */
bool capture_is_of_work(int32_t status);
/* Keep the failure of a stream, with CANN's recent message in this thread. */
void capture_keep_failure(uint64_t stream, struct capture_place place, int32_t status);
/* Take a failure within reach: return its status, and its message, which stays until this thread takes
 * another; 0: there is none. */
int32_t capture_take_failure(const struct capture_reach *reach, const char **message);
void capture_leave_failures(void); /* the thread ends */
void capture_drop_failures(const struct capture_reach *reach); /* the program can wait for none of it */
