/* SPDX-License-Identifier: Apache-2.0 */
/* Device memory that is left when a device closes. */
#ifndef MOCK_LEAK_H
#define MOCK_LEAK_H

#include "device.h"

void mock_leak_report(struct device *device);

#endif
