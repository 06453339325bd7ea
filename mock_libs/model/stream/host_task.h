/* SPDX-License-Identifier: Apache-2.0 */
/* Host tasks: work of another mock library in the order of a stream. */
#pragma once

#include "stream.h"

/* Advance a host task. false: it is not over. */
bool mock_host_task_run(struct stream *stream, const struct task *task);

/* Queue work on a stream (NULL: the default stream of the current context), which takes over
 * what this points to, also when it refuses. */
aclError mock_stream_submit_host_task(aclrtStream stream, const struct mock_host_task *errand);
/* Tell the work of a task that it is queued; for tasks of other kinds, nothing. */
void mock_host_task_queued(const struct stream *stream, const struct task *task);
