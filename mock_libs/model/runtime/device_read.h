/* SPDX-License-Identifier: Apache-2.0 */
/* Reads of device memory by the device, between the kernels of a batch: what copies to the host
 * copy, so that such a copy does not end the batch. */
#pragma once

#include "device.h"
#include "task.h"
#include "wire_reader.h"

/* The bytes to read, as they stand in a message. */
struct mock_read {
    uint64_t address, bytes;
};

/* Make room for what a task copies, unless the device is not to read it; *total is the number of
 * bytes that the batch reads. */
bool mock_read_prepare(const struct device *device, struct task *task, uint64_t *total);
struct mock_read mock_read_of(const struct task *task);
/* Take the answer to the reads of the copy *task and of those behind it, as many as follow each
 * other; *left is the number of tasks whose answers are due, and *task the one behind them. false:
 * the answer is cut off. */
bool mock_read_take(struct task **task, size_t *left, struct mock_reader *reader);
