/* SPDX-License-Identifier: Apache-2.0 */
/* Work that another of the mock libraries does in the order of a stream. */
#ifndef MOCK_ERRAND_H
#define MOCK_ERRAND_H

#include "stream.h"

/* Goes on with it. false: it is not over. */
bool mock_errand_run(struct stream *stream, const struct task *task);

/* Queues work on a stream (NULL: the default stream of the current context), which takes over what
 * this points to, also when it refuses; *position is that in the queue. */
aclError mock_stream_entrust(aclrtStream stream, const struct mock_errand *errand,
                             uint64_t *position);

#endif
