/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: queueing them, and running them on the device. */
#ifndef MOCK_KERNEL_H
#define MOCK_KERNEL_H

#include "stream.h"

/* Time limit of a kernel, in milliseconds; 0: none. */
void mock_kernel_limit(uint64_t milliseconds);
/* Send the kernel to the device, or takes its answer. false: the device works on this one, or on
 * another. */
bool mock_kernel_run(struct stream *stream, struct task *task);

/* Queue a kernel on a stream (NULL: the default stream of the current context). The stream takes
 * over what this points to, also when it refuses. */
aclError mock_stream_launch(aclrtStream stream, const struct mock_launch *launch);

#endif
