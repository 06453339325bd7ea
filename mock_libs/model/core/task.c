/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of a stream. */
#include "task.h"

#include <stdlib.h>
#include <string.h>

#include "shared_room.h"

uint64_t mock_pitched_bytes(uint64_t width, uint64_t height, uint64_t pitch)
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
                               mock_pitched_bytes(copy->width, copy->height, copy->destination_pitch), true,
                               false};
}

struct mock_range mock_copy_read(const struct copy *copy)
{
    return (struct mock_range){copy->source,
                               mock_pitched_bytes(copy->width, copy->height, copy->source_pitch), false,
                               false};
}

size_t mock_task_ranges(const struct task *task, struct mock_range own[2],
                        const struct mock_range **ranges)
{
    *ranges = own;
    switch (task->kind) {
    case TASK_KERNEL:
        *ranges = task->as.kernel.ranges;
        return task->as.kernel.range_count;
    case TASK_HOST:
        *ranges = task->as.errand.ranges;
        return task->as.errand.range_count;
    case TASK_COPY:
        own[0] = mock_copy_written(&task->as.copy.copy);
        own[1] = mock_copy_read(&task->as.copy.copy);
        return 2;
    case TASK_FILL:
        own[0] = (struct mock_range){task->as.fill.destination, task->as.fill.bytes, true, false};
        return 1;
    default:
        return 0;
    }
}

/* The same bytes in memory of their own; of none, NULL. *good: unless there is no memory. */
static void *duplicate(const void *bytes, size_t length, bool *good)
{
    void *copy = bytes == NULL ? NULL : malloc(length > 0 ? length : 1);
    if (copy != NULL && length > 0) {
        memcpy(copy, bytes, length);
    }
    *good = *good && (copy != NULL || bytes == NULL);
    return copy;
}

bool mock_task_copy(struct task *task, const struct task *from)
{
    bool good = true;
    task->origin = from->origin;
    if (task->effect == MOCK_NO_EFFECT) {
        task->effect = from->effect;
        task->effect_code = from->effect_code;
        task->effect_generation = from->effect_generation;
    }
    task->as = from->as;
    if (task->kind == TASK_KERNEL) {
        const struct mock_launch *kernel = &from->as.kernel;
        struct mock_launch *own = &task->as.kernel;
        own->message = duplicate(kernel->message, kernel->length, &good);
        own->ranges = duplicate(kernel->ranges, kernel->range_count * sizeof *own->ranges, &good);
        own->refused = duplicate(kernel->refused,
                                 kernel->refused == NULL ? 0 : strlen(kernel->refused) + 1, &good);
        own->tensors =
            duplicate(kernel->tensors, kernel->tensor_count * sizeof *own->tensors, &good);
    } else if (task->kind == TASK_COPY) {
        task->as.copy.room = NULL;
        task->as.copy.is_read = false;
    } else if (task->kind == TASK_HOST) {
        const struct mock_host_task *errand = &from->as.errand;
        struct mock_host_task *own = &task->as.errand;
        own->ranges = duplicate(errand->ranges, errand->range_count * sizeof *own->ranges, &good);
        own->work = errand->again(errand->work);
        if (own->work == NULL) {
            free(own->ranges);
            *task = (struct task){.kind = TASK_RECORD};
            good = false;
        }
    }
    return good;
}

void mock_task_clear(struct task *task)
{
    if (task->kind == TASK_KERNEL) {
        free(task->as.kernel.message);
        free(task->as.kernel.ranges);
        free(task->as.kernel.refused);
        free(task->as.kernel.tensors);
    } else if (task->kind == TASK_COPY) {
        mock_room_release(task->as.copy.room);
    } else if (task->kind == TASK_HOST) {
        task->as.errand.end(task->as.errand.work);
        free(task->as.errand.ranges);
    }
}

void mock_task_free(struct task *task)
{
    mock_task_clear(task);
    free(task);
}
