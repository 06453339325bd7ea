/* SPDX-License-Identifier: Apache-2.0 */
/* Reads of device memory by the device, for copies to the host. */
#include "device_read.h"

#include <unistd.h>

#include "fault.h"
#include "registered_memory.h"
#include "shared_room.h"
#include "transfer.h"

/* Larger ones cost the device more time than the end of a batch does. */
enum { MOST_BYTES = 512 << 10 };

/* Not into memory that kernels may use, too, before the host has written it. */
static bool is_possible(const struct device *device, const struct task *task)
{
    const struct copy *copy = &task->as.copy.copy;
    const uint64_t offset = (uint64_t)((uintptr_t)copy->source - (uintptr_t)device->heap.base);
    struct mock_stuck_bit stuck; /* the host sets it in what it reads */
    return task->kind == TASK_COPY && task->effect == MOCK_NO_EFFECT && !task->as.copy.to_device &&
           mock_registered_find(copy->destination, copy->width) == NULL && copy->height == 1 &&
           copy->width <= MOST_BYTES && offset < device->heap.bytes &&
           copy->width <= device->heap.bytes - offset && !mock_fault_stuck(0, &stuck);
}

bool mock_read_prepare(const struct device *device, struct task *task)
{
    if (!is_possible(device, task)) { /* also if it was, when its place was taken */
        return false;
    }
    if (task->as.copy.room == NULL) {
        task->as.copy.room = mock_room_take(task->as.copy.copy.width);
    }
    return task->as.copy.room != NULL;
}

struct mock_read_head mock_read_head(void)
{
    return (struct mock_read_head){(uint64_t)getpid(), mock_room_descriptor()};
}

struct mock_read mock_read_of(const struct task *task)
{
    const struct copy *copy = &task->as.copy.copy;
    return (struct mock_read){(uint64_t)(uintptr_t)copy->source, copy->width,
                              mock_room_offset(task->as.copy.room)};
}

bool mock_read_take(struct stream *stream, struct task **task, size_t *left, struct mock_reader *reader)
{
    uint32_t length;
    const bool is_read = mock_read_u32(reader) == ACL_SUCCESS; /* or the batch has ended here */
    mock_read_string(reader, &length);
    mock_read_u64(reader); /* no shapes, and the time that it took */
    for (; *left > 0 && *task != NULL && (*task)->kind == TASK_COPY; *task = (*task)->next, (*left)--) {
        (*task)->as.copy.is_read = is_read && reader->ok;
        if ((*task)->as.copy.is_read) {
            mock_copy_run(stream, *task);
        }
    }
    return reader->ok;
}
