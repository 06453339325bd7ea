/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of streams for notifies. */
#pragma once

#include "stream.h"

/* Execute a wait. true: the stream may continue. Otherwise *source is the stream that sets the
 * flag at *position, or NULL: another process or thread does. */
bool mock_notify_taken(struct stream *stream, struct task *task, struct stream **source,
                       uint64_t *position);
