/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels: queueing them, and running them on the device. */
#include "kernel.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exception.h"
#include "hazard.h"
#include "mappings.h"
#include "place.h"
#include "violation.h"
#include "wire.h"
#include "wire_reader.h"

/* Time limit of a kernel, in milliseconds; 0: none. The simulated cores cannot be stopped: a
 * kernel that took longer ends, and is then reported as CANN reports the one it stops. */
static uint64_t kernel_limit;

static uint64_t milliseconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

void mock_kernel_limit(uint64_t milliseconds)
{
    kernel_limit = milliseconds;
}

static void kernel_failed(struct stream *stream, const struct task *task, aclError code,
                          const char *text, uint32_t length)
{
    char place[MOCK_PLACE_BYTES];
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
    uint32_t count = reader->position < reader->length ? mock_read_u32(reader) : 0;
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

static void take_answer(struct stream *stream, const struct task *task, const uint8_t *answer,
                        size_t length)
{
    struct mock_reader reader = {answer, length, 0, true};
    const aclError status = (aclError)mock_read_u32(&reader);
    uint32_t text_length;
    const char *text = mock_read_string(&reader, &text_length);
    if (!reader.ok) {
        static const char cut[] = "the device's answer is cut off";
        kernel_failed(stream, task, ACL_ERROR_RT_INTERNAL_ERROR, cut, sizeof cut - 1);
    } else if (status != ACL_SUCCESS) {
        kernel_failed(stream, task, status, text, text_length);
        if (status == ACL_ERROR_RT_AICORE_EXCEPTION) {
            const struct mock_history launched = {.created = task->origin};
            mock_violate(MOCK_KERNEL_FAILED, "launch", NULL, &launched, "%.*s", (int)text_length,
                         text);
        }
    } else if (kernel_limit > 0 && milliseconds_now() - task->as.kernel.since > kernel_limit) {
        static const char late[] = "the kernel took longer than aclrtSetOpExecuteTimeOut allows";
        kernel_failed(stream, task, ACL_ERROR_RT_AICORE_TIMEOUT, late, sizeof late - 1);
    } else {
        take_shapes(&task->as.kernel, &reader);
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

bool mock_kernel_run(struct stream *stream, struct task *task)
{
    struct device *device = stream->context->device;
    struct mock_launch *kernel = &task->as.kernel;
    size_t length;
    if (kernel->refused != NULL) {
        kernel_failed(stream, task, ACL_ERROR_RT_AICORE_EXCEPTION, kernel->refused,
                      (uint32_t)strlen(kernel->refused));
        return true;
    }
    if (!kernel->placed) {
        if (task->effect == MOCK_IS_WRONG) {
            request_wrong_results(kernel->message);
        }
        mock_mappings_add(device, kernel);
        kernel->placed = true;
    }
    if (!kernel->sent) {
        kernel->sent = mock_wire_start(device, MOCK_RUN, kernel->message, kernel->length);
        kernel->since = milliseconds_now();
    }
    uint8_t *answer = kernel->sent ? mock_wire_take(device, MOCK_RUN, &length) : NULL;
    if (answer != NULL) {
        take_answer(stream, task, answer, length);
        free(answer);
    } else if (device->lost) {
        mock_stream_fail(stream, ACL_ERROR_RT_LOST_HEARTBEAT,
                         "device %d was lost while stream %d was working: %s", device->id,
                         stream->id, device->loss);
    }
    return answer != NULL || device->lost;
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
