/* SPDX-License-Identifier: Apache-2.0 */
/* Lifetime of devices and contexts: a context has a stream from the start, a device a process. */
#ifndef MOCK_LIFETIME_H
#define MOCK_LIFETIME_H

#include "context.h"

struct context *mock_context_new(struct device *device, bool primary);
/* Wait for the work of a context and ends it; false: another thread did so meanwhile. `force`:
 * work that waits for other threads is dropped. */
bool mock_context_destroy(struct context *context, bool force);
/* Open a device for a new reference or context / closes it when the last one is gone. */
aclError mock_device_open(struct device *device);
void mock_device_close_if_idle(struct device *device);

#endif
