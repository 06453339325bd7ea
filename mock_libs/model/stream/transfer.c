/* SPDX-License-Identifier: Apache-2.0 */
/* Execution of copies and fills. */
#include "transfer.h"

#include <string.h>

#include "address_query.h"
#include "address_space.h"
#include "device.h"
#include "fault.h"
#include "hazard.h"
#include "pinned_memory.h"
#include "poisoned_workspace.h"
#include "reduction.h"

/* Apply stuck bits to a range that was written. */
static void corrupt(const void *address, uint64_t bytes)
{
    struct mock_stuck_bit stuck;
    for (size_t i = 0; mock_fault_stuck(i, &stuck); i++) {
        const struct device *device = mock_device_of(address);
        if (device == NULL || device->id != stuck.device) {
            continue;
        }
        const uint64_t offset = (uint64_t)((const uint8_t *)address - device->heap.base);
        if (stuck.byte - offset < bytes) {
            device->heap.alias[stuck.byte] |= (uint8_t)(1u << stuck.bit);
        }
    }
}

static void written(const void *address, uint64_t bytes)
{
    corrupt(address, bytes);
    mock_workspace_written(address, bytes);
}

static void copy(const struct copy *copy, uint8_t *destination, const uint8_t *source)
{
    const uint64_t bytes = mock_copy_written(copy).bytes;
    corrupt(copy->source, mock_copy_read(copy).bytes);
    for (uint64_t row = 0; row < copy->height; row++) {
        memmove(destination + row * copy->destination_pitch, source + row * copy->source_pitch,
                copy->width);
    }
    written(copy->destination, bytes);
    mock_hazard_host_written(copy->destination, bytes);
}

void mock_copy_now(const struct copy *now)
{
    mock_hazard_host_access(now->destination, mock_copy_written(now).bytes, true);
    mock_hazard_host_access(now->source, mock_copy_read(now).bytes, false);
    copy(now, mock_alias(now->destination, mock_copy_written(now).bytes),
         mock_alias(now->source, mock_copy_read(now).bytes));
}

static void fill(uint8_t *destination, uint32_t pattern, uint64_t bytes)
{
    memset(destination, (int)(pattern & 0xFFu), bytes);
    if (pattern != (pattern & 0xFFu) * 0x01010101u) {
        for (uint64_t at = 0; at + sizeof pattern <= bytes; at += sizeof pattern) {
            memcpy(destination + at, &pattern, sizeof pattern);
        }
    }
}

void mock_fill_now(void *address, uint32_t pattern, uint64_t bytes)
{
    mock_hazard_host_access(address, bytes, true);
    fill(mock_alias(address, bytes), pattern, bytes);
    written(address, bytes);
}

/* ---- in the order of a stream ------------------------------------------------------------ */

/* Memory may have gone since the task was queued. Where the device reaches it now, or NULL. */
static void *still_there(const void *address, bool on_device, uint64_t bytes)
{
    if ((mock_device_of(address) != NULL) != on_device) {
        return NULL;
    }
    if (on_device ? !mock_is_mapped(address, bytes) : !mock_host_is_pinned(address, bytes)) {
        return NULL;
    }
    return mock_alias(address, bytes);
}

void mock_copy_run(struct stream *stream, const struct task *task)
{
    const struct copy *queued = &task->as.copy.copy;
    uint8_t *destination = still_there(queued->destination, task->as.copy.to_device,
                                       mock_copy_written(queued).bytes);
    const uint8_t *source =
        still_there(queued->source, task->as.copy.from_device, mock_copy_read(queued).bytes);
    if (destination == NULL || source == NULL) {
        mock_stream_fail(stream, ACL_ERROR_RT_SYS_DMA,
                         "the %s of a queued copy was freed before the copy ran",
                         destination == NULL ? "destination" : "source");
        return;
    }
    source = task->as.copy.is_read ? task->as.copy.room : source;
    mock_hazard_copy(task);
    if (task->as.copy.reduction != 0) {
        corrupt(queued->source, queued->width);
        const aclrtReduceKind kind = (aclrtReduceKind)task->as.copy.reduction;
        mock_reduce(kind, task->as.copy.type, destination, source, queued->width);
        written(queued->destination, queued->width);
        return;
    }
    copy(queued, destination, source);
}

void mock_fill_run(struct stream *stream, const struct task *task)
{
    void *destination = still_there(task->as.fill.destination, task->as.fill.on_device,
                                    task->as.fill.bytes);
    if (destination == NULL) {
        mock_stream_fail(stream, ACL_ERROR_RT_SYS_DMA,
                         "the memory of a queued fill was freed before the fill ran");
        return;
    }
    fill(destination, task->as.fill.pattern, task->as.fill.bytes);
    written(task->as.fill.destination, task->as.fill.bytes);
    mock_hazard_host_written(task->as.fill.destination, task->as.fill.bytes);
}
