/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills. The direction follows from the addresses, as in CANN; `kind` only says what
 * the caller believes. */
#include "state.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* A rectangle of bytes to copy; a plain copy is one row. */
struct copy {
    void *destination;
    const void *source;
    uint64_t width, height, destination_pitch, source_pitch;
};

static aclError check_kind(aclrtMemcpyKind kind)
{
    if ((int)kind < ACL_MEMCPY_HOST_TO_HOST || kind > ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "memcpy kind %d is not one to pass", (int)kind);
    }
    return ACL_SUCCESS;
}

static aclError check_pointers(const void *destination, const void *source)
{
    if (destination == NULL || source == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "the %s of the copy is NULL",
                         destination == NULL ? "destination" : "source");
    }
    return ACL_SUCCESS;
}

static aclError check_capacity(size_t capacity, size_t count)
{
    if (count > capacity) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "%zu bytes do not fit the destination, which was given as %zu", count,
                         capacity);
    }
    return ACL_SUCCESS;
}

uint64_t mock_span(uint64_t width, uint64_t height, uint64_t pitch)
{
    uint64_t bytes;
    if (height == 0 || __builtin_mul_overflow(height - 1, pitch, &bytes) ||
        __builtin_add_overflow(bytes, width, &bytes)) {
        return UINT64_MAX;
    }
    return bytes;
}

/* Records what is wrong with memory that is not all live. */
static void report_memory(const char *what, const void *address, uint64_t bytes)
{
    const struct device *device = mock_device_of(address);
    struct mock_history history = {0};
    if (device == NULL) {
        mock_violate(MOCK_HOST_MEMORY_INVALID, "address", address, NULL,
                     "%s is not %llu bytes of this process's memory", what,
                     (unsigned long long)bytes);
    } else if (mock_memory_place(device->id, address, 0, bytes, &history) == MOCK_BEYOND) {
        mock_violate(MOCK_COPY_OUT_OF_BOUNDS, "device memory", address, &history,
                     "%s is %llu bytes from this address on; its block has fewer", what,
                     (unsigned long long)bytes);
    } else {
        mock_violate(MOCK_ADDRESS_NOT_ON_DEVICE, "address", address, &history,
                     "%s is no live memory from aclrtMalloc", what);
    }
}

/* Whether the process may read a byte, and write it. Of a range, both ends are looked at: what lies
 * between may be gone as well, but a wrong address is hardly ever right at both. */
static bool is_usable(const void *address, bool writing)
{
    uint8_t byte;
    const struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)address, 1};
    /* Where the system does not let anybody ask, EPERM or ENOSYS, nothing is known to be wrong. */
    if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != 1) {
        return errno != EFAULT;
    }
    return !writing || process_vm_writev(getpid(), &here, 1, &there, 1, 0) == 1 || errno != EFAULT;
}

static bool is_live(const void *address, uint64_t bytes, bool writing)
{
    if (bytes == UINT64_MAX || mock_reach(address, bytes) == NULL) {
        return false;
    }
    const uint8_t *last = (const uint8_t *)address + bytes - 1;
    return mock_device_of(address) != NULL || mock_host_is_pinned(address, bytes) || bytes == 0 ||
           (is_usable(address, writing) && is_usable(last, writing));
}

static aclError check_side(const char *side, const void *address, const struct copy *copy,
                           uint64_t pitch)
{
    const uint64_t bytes = mock_span(copy->width, copy->height, pitch);
    if (!is_live(address, bytes, address == copy->destination)) {
        report_memory(side, address, bytes);
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "%s %p is not %llu bytes of live memory", side, address,
                         (unsigned long long)bytes);
    }
    return ACL_SUCCESS;
}

static aclError check_live(const struct copy *copy)
{
    const aclError status =
        check_side("the copy's destination", copy->destination, copy, copy->destination_pitch);
    return status != ACL_SUCCESS
               ? status
               : check_side("the copy's source", copy->source, copy, copy->source_pitch);
}

static aclError copy_now(const struct copy *copy)
{
    const aclError status = check_live(copy);
    if (status != ACL_SUCCESS) {
        return status;
    }
    const uint64_t bytes = mock_span(copy->width, copy->height, copy->destination_pitch);
    mock_hazard_touch(copy->destination, bytes, true);
    mock_hazard_touch(copy->source, mock_span(copy->width, copy->height, copy->source_pitch),
                      false);
    uint8_t *destination = mock_alias(copy->destination);
    const uint8_t *source = mock_alias(copy->source);
    for (uint64_t row = 0; row < copy->height; row++) {
        memmove(destination + row * copy->destination_pitch, source + row * copy->source_pitch,
                copy->width);
    }
    mock_hazard_host_written(copy->destination, bytes);
    return ACL_SUCCESS;
}

static aclError copy_blocking(const struct copy *copy)
{
    aclError status;
    return mock_usable_context(&status) == NULL ? status : copy_now(copy);
}

/* Pageable host memory makes an asynchronous copy wait for its stream and block. */
static bool is_pageable(const void *address, uint64_t bytes)
{
    return mock_device_of(address) == NULL && !mock_host_is_pinned(address, bytes);
}

static aclError copy_queued(const struct copy *copy, aclrtStream handle)
{
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    if (mock_device_of(copy->destination) == NULL && mock_device_of(copy->source) == NULL) {
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                         "an asynchronous copy from host to host is not supported");
    }
    status = check_live(copy);
    if (status != ACL_SUCCESS) {
        return status;
    }
    if (is_pageable(copy->destination,
                    mock_span(copy->width, copy->height, copy->destination_pitch)) ||
        is_pageable(copy->source, mock_span(copy->width, copy->height, copy->source_pitch))) {
        status = mock_stream_finish(stream, NULL);
        return status != ACL_SUCCESS ? status : copy_now(copy);
    }
    struct task *task = mock_stream_submit(stream, TASK_COPY);
    if (task == NULL) {
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    task->as.copy.destination = copy->destination;
    task->as.copy.source = copy->source;
    task->as.copy.width = copy->width;
    task->as.copy.height = copy->height;
    task->as.copy.destination_pitch = copy->destination_pitch;
    task->as.copy.source_pitch = copy->source_pitch;
    task->as.copy.to_device = mock_device_of(copy->destination) != NULL;
    task->as.copy.from_device = mock_device_of(copy->source) != NULL;
    mock_hazard_queued(stream, task);
    return ACL_SUCCESS;
}

/* The checks of a plain copy, in CANN's order. *done: the answer is known without copying. */
static aclError check_plain(const struct copy *copy, size_t capacity, aclrtMemcpyKind kind,
                            bool *done)
{
    *done = true;
    if (copy->width == 0) {
        return ACL_SUCCESS;
    }
    aclError status = check_pointers(copy->destination, copy->source);
    status = status != ACL_SUCCESS ? status : check_kind(kind);
    status = status != ACL_SUCCESS ? status : check_capacity(capacity, copy->width);
    *done = status != ACL_SUCCESS || copy->destination == copy->source;
    return status;
}

static aclError plain(void *dst, size_t capacity, const void *src, size_t count,
                      aclrtMemcpyKind kind)
{
    const struct copy copy = {dst, src, count, 1, count, count};
    bool done;
    const aclError status = check_plain(&copy, capacity, kind, &done);
    return done ? status : copy_blocking(&copy);
}

aclError aclrtMemcpy(void *dst, size_t destMax, const void *src, size_t count,
                     aclrtMemcpyKind kind)
{
    MOCK_GUARDED(plain(dst, destMax, src, count, kind));
}

static aclError plain_async(void *dst, size_t capacity, const void *src, size_t count,
                            aclrtMemcpyKind kind, aclrtStream stream)
{
    const struct copy copy = {dst, src, count, 1, count, count};
    bool done;
    const aclError status = check_plain(&copy, capacity, kind, &done);
    return done ? status : copy_queued(&copy, stream);
}

aclError aclrtMemcpyAsync(void *dst, size_t destMax, const void *src, size_t count,
                          aclrtMemcpyKind kind, aclrtStream stream)
{
    MOCK_GUARDED(plain_async(dst, destMax, src, count, kind, stream));
}

aclError aclrtMemcpyAsyncWithCondition(void *dst, size_t destMax, const void *src, size_t count,
                                       aclrtMemcpyKind kind, aclrtStream stream)
{
    MOCK_GUARDED(plain_async(dst, destMax, src, count, kind, stream));
}

static aclError check_rectangle(const struct copy *copy, aclrtMemcpyKind kind)
{
    aclError status = check_pointers(copy->destination, copy->source);
    if (status == ACL_SUCCESS &&
        (kind < ACL_MEMCPY_HOST_TO_DEVICE || kind > ACL_MEMCPY_DEVICE_TO_DEVICE)) {
        status = mock_fail(ACL_ERROR_INVALID_PARAM,
                           "a 2-D copy takes kinds 1 to 3 (host to device, device to host, device "
                           "to device), not %d",
                           (int)kind);
    }
    if (status == ACL_SUCCESS &&
        (copy->width > copy->destination_pitch || copy->width > copy->source_pitch)) {
        status = mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "width %llu is larger than a pitch (%llu and %llu)",
                           (unsigned long long)copy->width,
                           (unsigned long long)copy->destination_pitch,
                           (unsigned long long)copy->source_pitch);
    }
    return status;
}

static aclError rectangle(const struct copy *copy, aclrtMemcpyKind kind)
{
    if (copy->width == 0 || copy->height == 0) {
        return ACL_SUCCESS;
    }
    const aclError status = check_rectangle(copy, kind);
    return status != ACL_SUCCESS ? status : copy_blocking(copy);
}

aclError aclrtMemcpy2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                       size_t height, aclrtMemcpyKind kind)
{
    const struct copy copy = {dst, src, width, height, dpitch, spitch};
    MOCK_GUARDED(rectangle(&copy, kind));
}

static aclError rectangle_async(const struct copy *copy, aclrtMemcpyKind kind, aclrtStream stream)
{
    if (copy->width == 0 || copy->height == 0) {
        return ACL_SUCCESS;
    }
    const aclError status = check_rectangle(copy, kind);
    return status != ACL_SUCCESS ? status : copy_queued(copy, stream);
}

aclError aclrtMemcpy2dAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream)
{
    const struct copy copy = {dst, src, width, height, dpitch, spitch};
    MOCK_GUARDED(rectangle_async(&copy, kind, stream));
}

/* ---- fills -------------------------------------------------------------------------------- */

static aclError check_fill(const void *address, size_t capacity, size_t count)
{
    if (address == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "the memory to fill is NULL");
    }
    return check_capacity(capacity, count);
}

static aclError check_filled(const void *address, size_t count)
{
    if (is_live(address, count, true)) {
        return ACL_SUCCESS;
    }
    report_memory("the memory to fill", address, count);
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is not %zu bytes of live memory", address,
                     count);
}

static aclError fill(void *address, size_t capacity, int value, size_t count)
{
    if (count == 0) {
        return ACL_SUCCESS;
    }
    aclError status = check_fill(address, capacity, count);
    if (status == ACL_SUCCESS && mock_usable_context(&status) != NULL) {
        status = check_filled(address, count);
    }
    if (status == ACL_SUCCESS) {
        mock_hazard_touch(address, count, true);
        memset(mock_alias(address), value, count);
    }
    return status;
}

aclError aclrtMemset(void *devPtr, size_t maxCount, int32_t value, size_t count)
{
    MOCK_GUARDED(fill(devPtr, maxCount, value, count));
}

static aclError fill_async(void *address, size_t capacity, int value, size_t count,
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
    if (is_pageable(address, count)) {
        status = mock_stream_finish(stream, NULL);
        return status != ACL_SUCCESS ? status : fill(address, capacity, value, count);
    }
    const struct device *device = mock_device_of(address);
    if (device != NULL && device != stream->context->device) {
        mock_violate(MOCK_ADDRESS_ON_ANOTHER_DEVICE, "device memory", address, NULL,
                     "the memory to fill lies on device %d, the stream on device %d", device->id,
                     stream->context->device->id);
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is memory of another device", address);
    }
    struct task *task = mock_stream_submit(stream, TASK_FILL);
    if (task == NULL) {
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    }
    task->as.fill.on_device = mock_device_of(address) != NULL;
    task->as.fill.destination = address;
    task->as.fill.bytes = count;
    task->as.fill.value = value;
    mock_hazard_queued(stream, task);
    return ACL_SUCCESS;
}

aclError aclrtMemsetAsync(void *devPtr, size_t maxCount, int32_t value, size_t count,
                          aclrtStream stream)
{
    MOCK_GUARDED(fill_async(devPtr, maxCount, value, count, stream));
}
