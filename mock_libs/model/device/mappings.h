/* SPDX-License-Identifier: Apache-2.0 */
/* Mappings of a kernel: the physical memory behind the addresses that it uses, for the device
 * process. */
#pragma once

#include "device.h"
#include "task.h"

/* Put behind the prefix what is mapped now to the ranges of a kernel. Without memory for that it
 * leaves the message alone, and the kernel fails. */
void mock_mappings_add(const struct device *device, struct mock_launch *kernel);
