/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-ordered writes of values in device memory, and waits for them. */
#pragma once

#include "stream.h"

/* Execute a write / a wait. A wait returns true if the stream may continue; otherwise *source is
 * the stream that writes there at *position, or NULL: another process or thread does. */
void mock_value_written(struct stream *stream, const struct task *task);
bool mock_value_reached(struct stream *stream, const struct task *task, struct stream **source,
                        uint64_t *position);
