/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to device processes, and detection of their death. Waits release the lock. */
#pragma once

#include <time.h>

#include "device.h"

/* Send a request and wait for its answer, which is then the caller's to free. The device may
 * have been closed meanwhile. false: the device is lost, the deadline (NULL: none) has passed, or a
 * signal handler of Python has raised; a later answer is dropped. */
bool mock_device_request(struct device *device, enum mock_request kind, const void *payload,
                         size_t length, const struct timespec *deadline, uint8_t **answer,
                         size_t *answer_length);
/* Wait until something moves, but not long. false: the deadline (NULL: none) has passed, or a signal
 * handler of Python has raised: whoever waits returns, with what it waits for as it was. */
bool mock_wait_progress(const struct timespec *deadline);
/* 0, or the code of a lost device: looks whether the device process is still there. */
aclError mock_device_alive(struct device *device);

/* The same in steps, without waiting. false: a request of the kind is under way already. A device
 * that is lost takes every request, and answers none. */
bool mock_wire_start(struct device *device, enum mock_request kind, const void *payload,
                     size_t length);
/* Return whether a request of a kind is under way. */
bool mock_wire_is_busy(struct device *device, enum mock_request kind);
/* The answer, which is then the caller's, or NULL: it has not come. */
uint8_t *mock_wire_take(struct device *device, enum mock_request kind, size_t *length);
void mock_wire_abandon(struct device *device, enum mock_request kind);
