/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory that is left when a device closes. */
#pragma once

#include "device.h"

void mock_leak_report(struct device *device);
