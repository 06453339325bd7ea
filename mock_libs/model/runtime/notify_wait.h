/* SPDX-License-Identifier: Apache-2.0 */
/* A stream that waits for a notify. */
#ifndef MOCK_NOTIFY_WAIT_H
#define MOCK_NOTIFY_WAIT_H

#include "stream.h"

/* A stream has come to a wait. true: it may go on. Otherwise *source is the stream that will set the
 * flag when it comes to *position, or NULL: that is up to somebody else. */
bool mock_notify_taken(struct stream *stream, struct task *task, struct stream **source,
                       uint64_t *position);

#endif
