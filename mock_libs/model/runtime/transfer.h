/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills that are carried out: now, or when a stream comes to them. */
#ifndef MOCK_TRANSFER_H
#define MOCK_TRANSFER_H

#include "stream.h"

void mock_copy_now(const struct copy *copy);
void mock_fill_now(void *address, int value, uint64_t bytes);
void mock_copy_run(struct stream *stream, const struct task *task);
void mock_fill_run(struct stream *stream, const struct task *task);

#endif
