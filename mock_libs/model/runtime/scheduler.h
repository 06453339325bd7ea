/* SPDX-License-Identifier: Apache-2.0 */
/* Running what streams have queued. Nothing here has a thread of its own. */
#ifndef MOCK_SCHEDULER_H
#define MOCK_SCHEDULER_H

#include "stream.h"

/* Runs queued work up to a position. false: blocked on something another thread must do. */
bool mock_stream_run(struct stream *stream, uint64_t position);
/* In eager mode: runs whatever can run. */
void mock_run_eagerly(void);

#endif
