/* SPDX-License-Identifier: Apache-2.0 */
/* What a stream can be asked to do. */
#include "task.h"

#include <stdlib.h>

uint64_t mock_span(uint64_t width, uint64_t height, uint64_t pitch)
{
    uint64_t bytes;
    if (height == 0 || __builtin_mul_overflow(height - 1, pitch, &bytes) ||
        __builtin_add_overflow(bytes, width, &bytes)) {
        return UINT64_MAX;
    }
    return bytes;
}

struct mock_range mock_copy_written(const struct copy *copy)
{
    return (struct mock_range){copy->destination,
                               mock_span(copy->width, copy->height, copy->destination_pitch), true,
                               false};
}

struct mock_range mock_copy_read(const struct copy *copy)
{
    return (struct mock_range){copy->source,
                               mock_span(copy->width, copy->height, copy->source_pitch), false,
                               false};
}

void mock_task_free(struct task *task)
{
    if (task->kind == TASK_KERNEL) {
        free(task->as.kernel.message);
        free(task->as.kernel.ranges);
        free(task->as.kernel.refused);
        free(task->as.kernel.tensors);
    }
    free(task);
}
