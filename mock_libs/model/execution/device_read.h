/* SPDX-License-Identifier: Apache-2.0 */
/* Reads of device memory by the device, between the kernels of a batch: what copies to the host
 * copy, so that such a copy does not end the batch. */
#pragma once

#include "device.h"
#include "stream.h"
#include "task.h"
#include "wire_reader.h"

/* A message of reads: where the bytes go, a file that a process has open, and the reads. */
struct mock_read_head {
    uint64_t process, descriptor;
};
struct mock_read {
    uint64_t address, bytes, offset;
};

/* Make room for what a task copies; false: the device is not to read it. */
bool mock_read_prepare(const struct device *device, struct task *task);
struct mock_read_head mock_read_head(void);
struct mock_read mock_read_of(const struct task *task);
/* Take the answer to the reads of the copy *task and of those behind it, as many as follow each
 * other, and copy: before the answers of kernels behind them, whose failure may stop the stream.
 * *left is the number of tasks whose answers are due, and *task the one behind them. false: the
 * answer is cut off. */
bool mock_read_take(struct stream *stream, struct task **task, size_t *left, struct mock_reader *reader);
