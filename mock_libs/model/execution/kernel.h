/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: queueing them, and running them on the device. */
#pragma once

#include "stream.h"

/* Time limit of a kernel, in milliseconds; 0: none. */
void mock_kernel_limit(uint64_t milliseconds);
uint64_t mock_kernel_limit_now(void);
/* Send the first task of a stream, a kernel, to the device, with the kernels behind it up to a
 * position; or take the answer to them. false: the device works on this one, or on another. */
bool mock_kernel_run(struct stream *stream, uint64_t until);

/* Queue a kernel on a stream (NULL: the default stream of the current context). The stream takes
 * over what this points to, also when it refuses. */
aclError mock_stream_launch(aclrtStream stream, const struct mock_launch *launch);
