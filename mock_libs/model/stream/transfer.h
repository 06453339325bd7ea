/* SPDX-License-Identifier: Apache-2.0 */
/* Execution of copies and fills: at once, or as tasks of a stream. */
#pragma once

#include "stream.h"

void mock_copy_now(const struct copy *copy);
/* Four bytes, time and again; where they differ, `bytes` is a multiple of four. */
void mock_fill_now(void *address, uint32_t pattern, uint64_t bytes);
void mock_copy_run(struct stream *stream, const struct task *task);
void mock_fill_run(struct stream *stream, const struct task *task);
