/* SPDX-License-Identifier: Apache-2.0 */
/* Talking to the device process, and noticing its death. */
#ifndef MOCK_WIRE_H
#define MOCK_WIRE_H

#include "device.h"

/* The frames of the protocol between this process and the device process. */
enum mock_request { MOCK_HELLO = 1, MOCK_CHECK = 2, MOCK_RUN = 3, MOCK_BYE = 4 };

#pragma GCC visibility push(default) /* used by the other mock libraries */

/* Sends a request and waits for its answer. The answer belongs to the device and is valid until
 * its next request. false: the device is lost, and mock_fail has been told. */
bool mock_device_request(struct device *device, enum mock_request kind, const void *payload,
                         size_t length, const uint8_t **answer, size_t *answer_length);

#pragma GCC visibility pop

/* 0, or the code of a lost device: looks whether the device process is still there. */
aclError mock_device_alive(struct device *device);

#endif
