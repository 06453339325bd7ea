/* SPDX-License-Identifier: Apache-2.0 */
/* Reads of device memory by the device, for copies to the host. */
#include "device_read.h"

#include <stdlib.h>
#include <string.h>

#include "fault.h"

/* Larger ones cost more on their way through the socket than the end of a batch does. */
enum { MOST_BYTES = 64 << 10, MOST_OF_BATCH = 1 << 20 };

static bool is_possible(const struct device *device, const struct task *task)
{
    const struct copy *copy = &task->as.copy.copy;
    const uint64_t offset = (uint64_t)((uintptr_t)copy->source - (uintptr_t)device->heap.base);
    struct mock_stuck_bit stuck; /* the host sets it in what it reads */
    return task->kind == TASK_COPY && task->effect == MOCK_NO_EFFECT && !task->as.copy.to_device &&
           copy->height == 1 && copy->width <= MOST_BYTES && offset < device->heap.bytes &&
           copy->width <= device->heap.bytes - offset && !mock_fault_stuck(0, &stuck);
}

bool mock_read_prepare(const struct device *device, struct task *task, uint64_t *total)
{
    if (!is_possible(device, task) || *total > MOST_OF_BATCH) {
        return false;
    }
    const uint64_t bytes = task->as.copy.copy.width;
    task->as.copy.room = task->as.copy.room == NULL ? malloc(bytes) : task->as.copy.room;
    *total += bytes;
    return task->as.copy.room != NULL;
}

struct mock_read mock_read_of(const struct task *task)
{
    const struct copy *copy = &task->as.copy.copy;
    return (struct mock_read){(uint64_t)(uintptr_t)copy->source, copy->width};
}

bool mock_read_take(struct task **task, size_t *left, struct mock_reader *reader)
{
    uint32_t length, at = 0;
    const aclError status = (aclError)mock_read_u32(reader);
    const char *bytes = mock_read_string(reader, &length);
    const uint32_t shapes = mock_read_u32(reader);
    mock_read_u32(reader); /* the time that it took */
    bool good = reader->ok && shapes == 0;
    for (; *left > 0 && *task != NULL && (*task)->kind == TASK_COPY; *task = (*task)->next, (*left)--) {
        const uint64_t width = (*task)->as.copy.copy.width;
        good = good && (status != ACL_SUCCESS || width <= length - at);
        if (good && status == ACL_SUCCESS) { /* otherwise the batch has ended before it */
            memcpy((*task)->as.copy.room, bytes + at, width);
            (*task)->as.copy.is_read = true;
            at += (uint32_t)width;
        }
    }
    return good;
}
