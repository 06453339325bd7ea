/* SPDX-License-Identifier: Apache-2.0 */
/* Workspaces as kernels have left them: poisoned, and not written since. Poison costs more than a
 * small kernel, and most workspaces are used by one kernel after the other. */
#pragma once

#include "task.h"

/* A kernel is sent to the device, after all those that were sent before: write into its message how
 * much of its workspace it has to poison: nothing if that is left poisoned anyway. Only those in so
 * many bytes from `base` on are kept. */
void mock_workspace_sent(const struct mock_launch *kernel, bool is_left, const uint8_t *base,
                         uint64_t bytes_there);
/* Memory was written, by something else than a kernel. */
void mock_workspace_written(const void *address, uint64_t bytes);
/* Anything may have been written, or a kernel that was sent has not run. */
void mock_workspaces_forget(void);
/* The memory of a device has further addresses, here or in another process: from now on, writes
 * are not seen. */
void mock_workspaces_unknown(void);
