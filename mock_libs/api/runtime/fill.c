/* SPDX-License-Identifier: Apache-2.0 */
/* Fills. */
#include "address_query.h"
#include "address_space.h"
#include "capture.h"
#include "error_message.h"
#include "hazard.h"
#include "stream_wait.h"
#include "transfer.h"
#include "violation.h"

static aclError check_fill(const void *address, size_t capacity, size_t count)
{
    if (address == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "the memory to fill is NULL");
    }
    if (count > capacity) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "%zu bytes do not fit the destination, which was given as %zu", count,
                         capacity);
    }
    return ACL_SUCCESS;
}

static aclError check_filled(const void *address, size_t count)
{
    if (mock_is_live(address, count, true)) {
        mock_report_padding("the memory to fill", address, count);
        return ACL_SUCCESS;
    }
    mock_report_invalid_memory("the memory to fill", address, count);
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is not %zu bytes of live memory", address,
                     count);
}

static aclError fill(void *address, size_t capacity, uint32_t pattern, size_t count)
{
    if (count == 0) {
        return ACL_SUCCESS;
    }
    aclError status = check_fill(address, capacity, count);
    if (status == ACL_SUCCESS && mock_usable_context(&status) != NULL) {
        status = mock_capture_check_sync_call();
        status = status != ACL_SUCCESS ? status : check_filled(address, count);
    }
    if (status == ACL_SUCCESS) {
        mock_fill_now(address, pattern, count);
    }
    return status;
}

static uint32_t of_byte(int32_t value)
{
    return ((uint32_t)value & 0xFFu) * 0x01010101u;
}

aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count)
{
    return fill(devPtr, maxCount, of_byte(value), count);
}

static aclError fill_async(void *address, size_t capacity, uint32_t pattern, size_t count,
                           aclrtStream handle)
{
    if (count == 0) {
        return ACL_SUCCESS;
    }
    aclError status = check_fill(address, capacity, count);
    struct stream *stream =
        status != ACL_SUCCESS ? NULL : mock_stream_find(handle, true, &status);
    status = stream == NULL ? status : check_filled(address, count);
    if (status != ACL_SUCCESS) {
        return status;
    }
    if (mock_is_pageable(address, count)) {
        status = mock_capture_check_blocking_copy(stream);
        status = status != ACL_SUCCESS ? status : mock_stream_finish(stream, NULL);
        return status != ACL_SUCCESS ? status : fill(address, capacity, pattern, count);
    }
    const struct device *device = mock_device_of(address);
    if (device != NULL && device != stream->context->device) {
        mock_violate(MOCK_ADDRESS_ON_ANOTHER_DEVICE, "device memory", address, NULL,
                     "the memory to fill lies on device %d, the stream on device %d", device->id,
                     stream->context->device->id);
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is memory of another device", address);
    }
    struct task *task = mock_stream_submit(stream, TASK_FILL, &status);
    if (task == NULL) {
        return status;
    }
    task->as.fill.on_device = mock_device_of(address) != NULL;
    task->as.fill.destination = address;
    task->as.fill.bytes = count;
    task->as.fill.pattern = pattern;
    mock_hazard_queued(stream, task);
    return ACL_SUCCESS;
}

aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream)
{
    return fill_async(devPtr, maxCount, of_byte(value), count, stream);
}

/* ---- words ----------------------------------------------------------------------------------- */

/* They go where words may lie, in memory that the runtime itself has given. */
static aclError check_words(const void *address, size_t capacity, size_t count)
{
    if ((uintptr_t)address % sizeof(uint32_t) != 0 ||
        mock_is_pageable(address, sizeof(uint32_t))) {
        return mock_fail(ACL_ERROR_INVALID_PARAM,
                         "ptr %p must be a multiple of 4, in memory of aclrtMalloc, "
                         "aclrtMallocHost or aclrtMapMem",
                         address);
    }
    if (count > capacity / sizeof(uint32_t)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "%zu words do not fit the memory, which was given as %zu bytes", count,
                         capacity);
    }
    return ACL_SUCCESS;
}

aclError aclrtMemsetD32(void *address, size_t capacity, uint32_t value, size_t count)
{
    const aclError status = check_words(address, capacity, count);
    return status != ACL_SUCCESS ? status
                                 : fill(address, capacity, value, count * sizeof value);
}

aclError aclrtMemsetD32Async(void *address, size_t capacity, uint32_t value, size_t count,
                             aclrtStream stream)
{
    const aclError status = check_words(address, capacity, count);
    return status != ACL_SUCCESS
               ? status
               : fill_async(address, capacity, value, count * sizeof value, stream);
}
