/* SPDX-License-Identifier: Apache-2.0 */
/* Start, stop and fork of the device process. */
#pragma once

#include "device.h"

aclError mock_process_start(struct device *device);
void mock_process_stop(struct device *device);
/* Kill it, as a fault, and wait for its end, up to five seconds. */
void mock_process_kill(struct device *device);
/* Drop the devices of the parent in a forked child. */
void mock_process_forked(void);
