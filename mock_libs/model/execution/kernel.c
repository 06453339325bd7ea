/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: queueing them, and running them on the device. */
#include "kernel.h"

#include <stdlib.h>
#include <string.h>

#include "device_read.h"
#include "exception.h"
#include "hazard.h"
#include "mappings.h"
#include "place.h"
#include "poison.h"
#include "poisoned_workspace.h"
#include "violation.h"
#include "wire.h"
#include "wire_reader.h"

/* Time limit of a kernel, in milliseconds; 0: none. The simulated cores cannot be stopped: a
 * kernel that took longer ends, and is then reported as CANN reports the one it stops. */
static uint64_t kernel_limit;

uint64_t mock_kernel_limit_now(void)
{
    return kernel_limit;
}

void mock_kernel_limit(uint64_t milliseconds)
{
    kernel_limit = milliseconds;
}

static const char CUT[] = "the device's answer is cut off";

static void kernel_failed(struct stream *stream, const struct task *task, aclError code,
                          const char *text, uint32_t length)
{
    char place[MOCK_PLACE_BYTES];
    mock_workspaces_forget(); /* it may have ended before it poisoned its own */
    const char *found = mock_place_of(&task->origin, place);
    mock_stream_fail(stream, code, "%.*s%s%s", (int)length, text,
                     found == NULL ? "" : "; launched in ", found == NULL ? "" : found);
    mock_exception_record((uint32_t)stream->id, (uint32_t)stream->context->device->id, task->position, code);
}

/* Shapes that an operator has found from the data, behind the text. */
static void take_shapes(const struct mock_launch *kernel, struct mock_reader *reader)
{
    enum { MAX_DIMENSIONS = 25 };
    int64_t dims[MAX_DIMENSIONS];
    uint32_t count = mock_read_u32(reader);
    for (; reader->ok && count > 0; count--) {
        const uint32_t tensor = mock_read_u32(reader), rank = mock_read_u32(reader);
        for (uint32_t i = 0; i < rank && i < MAX_DIMENSIONS; i++) {
            dims[i] = (int64_t)mock_read_u64(reader);
        }
        if (reader->ok && rank <= MAX_DIMENSIONS && tensor < kernel->tensor_count) {
            kernel->reshape(kernel->tensors[tensor], dims, rank);
        }
    }
}

/* Take the next answer of those to a batch. */
static void take_answer(struct stream *stream, const struct task *task, struct mock_reader *reader)
{
    const aclError status = (aclError)mock_read_u32(reader);
    uint32_t text_length;
    const char *text = mock_read_string(reader, &text_length);
    if (!reader->ok) {
        kernel_failed(stream, task, ACL_ERROR_RT_INTERNAL_ERROR, CUT, sizeof CUT - 1);
        return;
    }
    take_shapes(&task->as.kernel, reader);
    const uint32_t milliseconds = mock_read_u32(reader);
    if (status != ACL_SUCCESS) {
        kernel_failed(stream, task, status, text, text_length);
        if (status == ACL_ERROR_RT_AICORE_EXCEPTION) {
            const struct mock_history launched = {.created = task->origin};
            mock_violate(MOCK_KERNEL_FAILED, "launch", NULL, &launched, "%.*s", (int)text_length,
                         text);
        }
    } else if (kernel_limit > 0 && milliseconds > kernel_limit) {
        static const char late[] = "the kernel took longer than aclrtSetOpExecuteTimeOut allows";
        kernel_failed(stream, task, ACL_ERROR_RT_AICORE_TIMEOUT, late, sizeof late - 1);
    }
}

/* The device answers for as many tasks of a batch as it has run: for the first one at least. The
 * others are sent again. */
static void take_answers(struct stream *stream, const uint8_t *answer, size_t length)
{
    struct mock_reader reader = {answer, length, 0, true};
    struct task *task = stream->first;
    size_t left = task->as.kernel.sent;
    do {
        if (task->kind == TASK_KERNEL) {
            take_answer(stream, task, &reader);
            task->as.kernel.done = true;
            task = task->next;
            left--;
        } else if (!mock_read_take(stream, &task, &left, &reader)) {
            mock_stream_fail(stream, ACL_ERROR_RT_INTERNAL_ERROR, CUT);
            reader.ok = false;
        }
    } while (left > 0 && reader.ok && reader.position < length);
    if (left > 0) {
        mock_workspaces_forget();
    }
}

/* The offset of the call's flags in a message: behind its prefix and the operator's name. */
static void request_wrong_results(uint8_t *message)
{
    enum { WRONG_NUMBERS = 8 };
    uint32_t name, flags;
    memcpy(&name, message + MOCK_PREFIX, sizeof name);
    uint8_t *place = message + MOCK_PREFIX + sizeof name + name;
    memcpy(&flags, place, sizeof flags);
    flags |= WRONG_NUMBERS;
    memcpy(place, &flags, sizeof flags);
}

/* A kernel that the device has to run, whatever becomes of those before it. */
static bool runs_on_device(const struct task *task)
{
    return task->kind == TASK_KERNEL && task->as.kernel.refused == NULL &&
           (task->effect == MOCK_NO_EFFECT || task->effect == MOCK_IS_WRONG);
}

/* Items of a batch: the message of a kernel, or what to read of device memory. */
enum { ITEM_KERNEL, ITEM_READS };
struct item {
    uint32_t length, kind;
};

struct batch {
    uint8_t *bytes;
    size_t length, capacity;
    size_t reads;  /* the offset of the last item, if it is one of reads, or 0 */
};

/* Append to a batch; false: no memory. */
static bool append(struct batch *batch, const void *bytes, size_t length)
{
    if (batch->length + length > batch->capacity) {
        const size_t capacity = 2 * (batch->length + length);
        uint8_t *larger = realloc(batch->bytes, capacity);
        if (larger == NULL) {
            return false;
        }
        batch->bytes = larger;
        batch->capacity = capacity;
    }
    memcpy(batch->bytes + batch->length, bytes, length);
    batch->length += length;
    return true;
}

/* The kernel reaches its tensors; false: its workspace, too. */
static bool reach_memory(struct heap *heap, const struct mock_launch *kernel)
{
    bool is_left = false;
    if (kernel->is_partial) {
        mock_heap_reach(heap, heap->base, heap->bytes);
    }
    for (size_t i = 0; i < kernel->range_count; i++) {
        const struct mock_range *range = &kernel->ranges[i];
        is_left = range->workspace && kernel->spares_workspace &&
                  mock_heap_leave(heap, range->address, range->bytes, MOCK_USED);
        if (!is_left) {
            mock_heap_reach(heap, range->address, range->bytes);
        }
    }
    return is_left; /* the workspace is the last range */
}

static bool add_kernel(struct batch *batch, struct device *device, struct task *task)
{
    struct mock_launch *kernel = &task->as.kernel;
    if (!kernel->placed) {
        if (task->effect == MOCK_IS_WRONG) {
            request_wrong_results(kernel->message);
        }
        mock_mappings_add(device, kernel);
        kernel->placed = true;
    }
    const bool is_left = reach_memory(&device->heap, kernel);
    mock_workspace_sent(kernel, is_left, device->heap.base, device->heap.bytes);
    const struct item item = {(uint32_t)kernel->length, ITEM_KERNEL};
    batch->reads = 0;
    return append(batch, &item, sizeof item) && append(batch, kernel->message, kernel->length);
}

/* Reads that follow each other are one item. */
static bool add_read(struct batch *batch, struct device *device, struct task *task)
{
    struct item item = {0, ITEM_READS};
    const size_t place = batch->reads == 0 ? batch->length : batch->reads;
    if (!mock_read_prepare(device, task)) {
        return false;
    }
    const struct mock_read_head head = mock_read_head();
    const struct mock_read read = mock_read_of(task);
    if ((batch->reads == 0 &&
         (!append(batch, &item, sizeof item) || !append(batch, &head, sizeof head))) ||
        !append(batch, &read, sizeof read)) {
        return false;
    }
    mock_heap_reach(&device->heap, task->as.copy.copy.source, read.bytes);
    batch->reads = place;
    item.length = (uint32_t)(batch->length - place - sizeof item);
    memcpy(batch->bytes + place, &item, sizeof item);
    return true;
}

/* Send the first kernel of a stream and the tasks behind it, as far as a position and up to a kernel:
 * behind the last one the host copies itself. */
static void send_batch(struct stream *stream, uint64_t until)
{
    enum { MOST = 256, MOST_BYTES = 1 << 18 };
    struct device *device = stream->context->device;
    struct batch batch = {0};
    size_t length = 0, tasks = 0, count = 0;
    for (struct task *task = stream->first; task != NULL && (tasks == 0 || task->position <= until);
         task = task->next) {
        const size_t more = task->kind == TASK_KERNEL ? task->as.kernel.length : sizeof(struct mock_read);
        if (tasks > 0 && (tasks == MOST || batch.length + more >= MOST_BYTES)) {
            break;
        }
        if (task->kind == TASK_COPY ? !add_read(&batch, device, task)
                                    : !runs_on_device(task) || !add_kernel(&batch, device, task)) {
            break;
        }
        tasks++;
        if (task->kind == TASK_KERNEL) {
            length = batch.length;
            count = tasks;
        }
    }
    struct mock_launch *first = &stream->first->as.kernel;
    if (count == 0) {
        static const char none[] = "no host memory for a kernel";
        kernel_failed(stream, stream->first, ACL_ERROR_RT_MEMORY_ALLOCATION, none, sizeof none - 1);
        first->done = true;
    } else if (mock_wire_start(device, MOCK_RUN, batch.bytes, length)) {
        first->sent = count;
    }
    free(batch.bytes);
}

bool mock_kernel_run(struct stream *stream, uint64_t until)
{
    struct device *device = stream->context->device;
    const struct task *task = stream->first;
    const struct mock_launch *kernel = &task->as.kernel;
    size_t length;
    if (kernel->done) {
        return true;
    }
    if (kernel->refused != NULL) {
        kernel_failed(stream, task, ACL_ERROR_RT_AICORE_EXCEPTION, kernel->refused,
                      (uint32_t)strlen(kernel->refused));
        return true;
    }
    if (kernel->sent == 0 && !mock_wire_is_busy(device, MOCK_RUN)) {
        send_batch(stream, until);
    }
    uint8_t *answer = kernel->sent > 0 ? mock_wire_take(device, MOCK_RUN, &length) : NULL;
    if (answer != NULL) {
        take_answers(stream, answer, length);
        free(answer);
    } else if (device->lost && !kernel->done) {
        mock_stream_fail(stream, ACL_ERROR_RT_LOST_HEARTBEAT,
                         "device %d was lost while stream %d was working: %s", device->id,
                         stream->id, device->loss);
    }
    return kernel->done || device->lost;
}

aclError mock_stream_launch(aclrtStream handle, const struct mock_launch *launch)
{
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    struct task *task = stream == NULL ? NULL : mock_stream_submit(stream, TASK_KERNEL, &status);
    if (task == NULL) {
        free(launch->message);
        free(launch->ranges);
        free(launch->refused);
        free(launch->tensors);
        return status;
    }
    task->as.kernel = *launch;
    mock_hazard_queued(stream, task);
    return ACL_SUCCESS;
}
