/* SPDX-License-Identifier: Apache-2.0 */
/* Workspaces as kernels have left them. */
#include "poisoned_workspace.h"

#include <string.h>

/* As many as streams that take turns. */
enum { KEPT = 8 };

static struct mock_range poisoned[KEPT]; /* those without bytes are free */
static size_t oldest;
static bool unknown;

void mock_workspace_written(const void *address, uint64_t bytes)
{
    const uintptr_t start = (uintptr_t)address;
    for (size_t i = 0; i < KEPT; i++) {
        const uintptr_t own = (uintptr_t)poisoned[i].address;
        if (own < start + bytes && start < own + poisoned[i].bytes) {
            poisoned[i].bytes = 0;
        }
    }
}

void mock_workspaces_forget(void)
{
    memset(poisoned, 0, sizeof poisoned);
}

void mock_workspaces_unknown(void)
{
    unknown = true;
    mock_workspaces_forget();
}

static bool is_known(const struct mock_range *workspace)
{
    for (size_t i = 0; i < KEPT; i++) {
        if (poisoned[i].address == workspace->address && poisoned[i].bytes >= workspace->bytes) {
            return true;
        }
    }
    return false;
}

static void add(const struct mock_range *workspace)
{
    mock_workspace_written(workspace->address, workspace->bytes);
    poisoned[oldest] = *workspace;
    oldest = (oldest + 1) % KEPT;
}

void mock_workspace_sent(const struct mock_launch *kernel, bool is_left, const uint8_t *base,
                         uint64_t bytes_there)
{
    const struct mock_range *workspace = NULL;
    for (size_t i = 0; i < kernel->range_count; i++) {
        const struct mock_range *range = &kernel->ranges[i];
        if (range->workspace) {
            workspace = range;
        } else if (range->written) {
            mock_workspace_written(range->address, range->bytes);
        }
    }
    if (workspace == NULL) {
        return;
    }
    const bool known = is_left || is_known(workspace);
    const uint64_t bytes = known ? 0 : workspace->bytes;
    memcpy(kernel->message + MOCK_POISON_AT, &bytes, sizeof bytes);
    if (!known && !unknown && (uintptr_t)workspace->address - (uintptr_t)base < bytes_there) {
        add(workspace);
    }
}
