/* SPDX-License-Identifier: Apache-2.0 */
/* Access rights of devices to mapped memory. */
#pragma once

#include "address_space.h"
#include "stream.h"

/* Access of a device: bits of aclrtMemAccessFlags. */
uint8_t mock_access_of(const struct mapping *mapping, const struct device *device);
/* Check that the device of a stream may access the memory of a task; else report a violation. */
void mock_access_check(const struct stream *stream, const struct task *task);
