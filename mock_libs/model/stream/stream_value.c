/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-ordered writes of values in device memory, and waits for them. */
#include "stream_value.h"

#include <string.h>

#include "address_query.h"
#include "poisoned_workspace.h"

static void *find(struct stream *stream, const struct task *task)
{
    void *place = mock_live_alias(task->as.value.address, sizeof task->as.value.value);
    if (place == NULL) {
        mock_stream_fail(stream, ACL_ERROR_RT_SYS_DMA,
                         "the memory of a queued value was freed before the stream came to it");
    }
    return place;
}

void mock_value_written(struct stream *stream, const struct task *task)
{
    void *place = find(stream, task);
    if (place != NULL) {
        memcpy(place, &task->as.value.value, sizeof task->as.value.value);
        mock_workspace_written(task->as.value.address, sizeof task->as.value.value);
    }
}

static bool holds(uint64_t found, uint64_t wanted, uint32_t condition)
{
    switch (condition) {
    case ACL_STREAM_WAIT_VALUE_GEQ:
        return found >= wanted;
    case ACL_STREAM_WAIT_VALUE_EQ:
        return found == wanted;
    case ACL_STREAM_WAIT_VALUE_AND:
        return (found & wanted) != 0;
    default:
        return ~(found | wanted) != 0;
    }
}

static bool writes(const struct task *task, const void *address)
{
    struct mock_range own[2];
    const struct mock_range *ranges;
    const size_t count = mock_task_ranges(task, own, &ranges);
    const uintptr_t place = (uintptr_t)address;
    for (size_t i = 0; i < count; i++) {
        const uintptr_t start = (uintptr_t)ranges[i].address;
        if (ranges[i].written && start < place + sizeof(uint64_t) &&
            place < start + ranges[i].bytes) {
            return true;
        }
    }
    return task->kind == TASK_VALUE_WRITE && task->as.value.address == address;
}

bool mock_value_reached(struct stream *stream, const struct task *task, struct stream **source,
                        uint64_t *position)
{
    const void *place = find(stream, task);
    uint64_t found;
    *source = NULL;
    if (place == NULL) {
        return true;
    }
    memcpy(&found, place, sizeof found);
    if (holds(found, task->as.value.value, task->as.value.condition)) {
        return true;
    }
    *source = mock_stream_find_task(writes, task->as.value.address, stream, position);
    return false;
}
