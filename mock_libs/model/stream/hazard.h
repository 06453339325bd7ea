/* SPDX-License-Identifier: Apache-2.0 */
/* Hazards: memory of queued work that is freed, read or written meanwhile. */
#pragma once

#include "stream.h"
#include "violation.h"

/* Each of these reports what it finds. Memory is about to be freed, which breaks a rule of its
 * own: */
void mock_hazard_free(const void *address, uint64_t bytes, enum mock_rule rule);
/* the host reads or writes memory now: */
void mock_hazard_host_access(const void *address, uint64_t bytes, bool writes);
/* a queued copy is about to run: */
void mock_hazard_copy(const struct task *task);
/* the runtime itself has written host memory: */
void mock_hazard_host_written(const void *address, uint64_t bytes);
/* a task was queued last on a stream: */
void mock_hazard_queued(const struct stream *stream, struct task *task);
