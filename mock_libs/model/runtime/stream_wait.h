/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for streams. The lock is released meanwhile: what may be gone is found again. */
#ifndef MOCK_STREAM_WAIT_H
#define MOCK_STREAM_WAIT_H

#include <time.h>

#include "stream.h"

/* Runs work up to a position, waiting while it is blocked, at most until a deadline (NULL: for
 * ever). false: timed out. The stream may be gone afterwards. */
bool mock_stream_wait(struct stream *stream, uint64_t position, const struct timespec *deadline);
/* Lets work run up to a position, and waits for the device, though not long; for others not at all.
 * The stream may be gone afterwards. */
void mock_stream_advance(struct stream *stream, uint64_t position);
/* What is queued up to a position is not put off: nobody can tell here whether another process waits
 * for it. The same holds of the stream. */
void mock_stream_flush(const void *handle, uint64_t position);
/* In eager mode, before the lock is let go of: the same for whatever can run. */
void mock_advance_eagerly(void);
/* Waits for all of a stream and takes its failure. */
aclError mock_stream_finish(struct stream *stream, const struct timespec *deadline);
/* Runs what others than this program wait for, and in eager mode whatever can run; then waits until
 * something moves, but not long. */
void mock_run_awaited_or_wait(void);

/* The same, at most until a deadline (NULL: there is none). false: timed out. */
bool mock_run_awaited_until(const struct timespec *deadline);
/* Waits for every stream of a device, NULL: of all. Their failures stay for whoever asks. */
void mock_device_drain(const struct device *device);
/* Waits for every stream of a context. false: timed out. */
bool mock_context_wait(void *handle, const struct timespec *deadline);
/* Waits for what the device can do of it, and for no other thread. */
void mock_context_drain(void *handle);

#endif
