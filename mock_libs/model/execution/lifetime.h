/* SPDX-License-Identifier: Apache-2.0 */
/* Lifetime of devices and contexts: a context has a stream from the start, a device a process. */
#pragma once

#include "context.h"

struct context *mock_context_new(struct device *device, bool primary);
/* Wait for the work of a context, which another thread may end meanwhile. `force`: not for work that
 * waits for other threads. */
aclError mock_context_finish(void *handle, bool force);
/* End a context; work that is queued is dropped. */
void mock_context_destroy(struct context *context);
/* Open a device for a new reference or context / close it when the last one is gone. */
aclError mock_device_open(struct device *device);
void mock_device_close_if_idle(struct device *device);
