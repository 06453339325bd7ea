/* SPDX-License-Identifier: Apache-2.0 */
/* The device process: starting and stopping it, and what becomes of it in a forked child. */
#ifndef MOCK_DEVICE_PROCESS_H
#define MOCK_DEVICE_PROCESS_H

#include "device.h"

aclError mock_process_start(struct device *device);
void mock_process_stop(struct device *device);
/* Kills it, as a fault, and waits until the kernel says so. */
void mock_process_kill(struct device *device);
/* What a forked child does with the devices of its parent. */
void mock_process_forked(void);

#endif
