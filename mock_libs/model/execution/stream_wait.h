/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for streams. The lock is released meanwhile, so objects are looked up again. */
#pragma once

#include <time.h>

#include "stream.h"

/* Run work up to a position, waiting while it is blocked, at most until a deadline (NULL: for
 * ever). A failure, after mock_fail: timed out, ended by a signal, or refused to a host function of
 * the stream. The stream may be gone afterwards. */
aclError mock_stream_wait(struct stream *stream, uint64_t position,
                          const struct timespec *deadline);
/* Let work run up to a position, and wait for the device, though not long; for others not at
 * all. The stream may be gone afterwards. */
void mock_stream_advance(struct stream *stream, uint64_t position);
/* Run queued work up to a position soon, because another process may wait for it. The stream may
 * be gone afterwards. */
void mock_stream_flush(const void *handle, uint64_t position);
/* Run all runnable work in eager mode, before the lock is released. */
void mock_advance_eagerly(void);
/* Wait for all of a stream and take its failure. */
aclError mock_stream_finish(struct stream *stream, const struct timespec *deadline);
/* Run what others than this program wait for, and in eager mode whatever can run; then wait
 * until something moves, but not long. */
void mock_run_awaited_or_wait(void);

/* The same, at most until a deadline (NULL: there is none). false: timed out. */
bool mock_run_awaited_until(const struct timespec *deadline);
/* Wait for every stream of a device (NULL: of all). Their failures stay pending. */
aclError mock_device_drain(const struct device *device);
/* Wait for every stream of a context. */
aclError mock_context_wait(void *handle, const struct timespec *deadline);
/* Wait for what the device can do of it, and for no other thread. */
aclError mock_context_drain(void *handle);
