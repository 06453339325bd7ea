/* SPDX-License-Identifier: Apache-2.0 */
/* Values in device memory that streams write, and wait for. */
#ifndef MOCK_STREAM_VALUE_H
#define MOCK_STREAM_VALUE_H

#include "stream.h"

/* A stream has come to a write / a wait. Of a wait: true, it may go on. Otherwise *source is the
 * stream that will write there when it comes to *position, or NULL: that is up to somebody else. */
void mock_value_written(struct stream *stream, const struct task *task);
bool mock_value_reached(struct stream *stream, const struct task *task, struct stream **source,
                        uint64_t *position);

#endif
