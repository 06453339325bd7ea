/* SPDX-License-Identifier: Apache-2.0 */
/* Copies. The direction follows from the addresses, as in CANN; `kind` is only checked. */
#include <string.h>

#include "address_query.h"
#include "address_space.h"
#include "capture.h"
#include "error_message.h"
#include "hazard.h"
#include "stream_wait.h"
#include "transfer.h"

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

static aclError check_side(const char *side, struct mock_range range)
{
    if (!mock_is_live(range.address, range.bytes, range.written)) {
        mock_report_invalid_memory(side, range.address, range.bytes);
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "%s %p is not %llu bytes of live memory", side, range.address,
                         (unsigned long long)range.bytes);
    }
    if (range.written) {
        mock_report_padding(side, range.address, range.bytes);
    }
    return ACL_SUCCESS;
}

static aclError check_live(const struct copy *copy)
{
    const aclError status = check_side("the copy's destination", mock_copy_written(copy));
    return status != ACL_SUCCESS ? status : check_side("the copy's source", mock_copy_read(copy));
}

static aclError copy_now(const struct copy *copy)
{
    const aclError status = check_live(copy);
    if (status == ACL_SUCCESS) {
        mock_copy_now(copy);
    }
    return status;
}

static aclError copy_blocking(const struct copy *copy)
{
    aclError status;
    if (mock_usable_context(&status) != NULL) {
        status = mock_capture_check_sync_call();
    }
    return status != ACL_SUCCESS ? status : copy_now(copy);
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
    /* Pageable host memory makes an asynchronous copy wait for its stream and block. */
    if (mock_is_pageable(copy->destination, mock_copy_written(copy).bytes) ||
        mock_is_pageable(copy->source, mock_copy_read(copy).bytes)) {
        status = mock_capture_check_blocking_copy(stream);
        status = status != ACL_SUCCESS ? status : mock_stream_finish(stream, NULL);
        return status != ACL_SUCCESS ? status : copy_now(copy);
    }
    struct task *task = mock_stream_submit(stream, TASK_COPY, &status);
    if (task == NULL) {
        return status;
    }
    task->as.copy.copy = *copy;
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
    return plain(dst, destMax, src, count, kind);
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
    return plain_async(dst, destMax, src, count, kind, stream);
}

aclError aclrtMemcpyAsyncWithCondition(void *dst, size_t destMax, const void *src, size_t count,
                                       aclrtMemcpyKind kind, aclrtStream stream)
{
    return plain_async(dst, destMax, src, count, kind, stream);
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
    return rectangle(&copy, kind);
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
    return rectangle_async(&copy, kind, stream);
}

/* ---- addresses that are in memory, and are read when the call is made --------------------------- */

struct description {
    char mark[8];
    struct copy copy;
    aclrtMemcpyKind kind;
};

static const char MARK[8] = "copy";

aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t *descSize)
{
    *descSize = sizeof(struct description);
    return check_kind(kind);
}

aclError aclrtSetMemcpyDesc(void *desc, aclrtMemcpyKind kind, void *srcAddr, void *dstAddr,
                            size_t count, void *config)
{
    struct description description = {"", {dstAddr, srcAddr, count, 1, count, count}, kind};
    memcpy(description.mark, MARK, sizeof MARK);
    if (config != NULL || !mock_write_memory(desc, &description, sizeof description)) {
        return mock_fail(config != NULL ? ACL_ERROR_INVALID_PARAM : ACL_ERROR_RT_PARAM_INVALID,
                         "config must be NULL, and desc (%p) %zu bytes of live memory", desc,
                         sizeof description);
    }
    return ACL_SUCCESS;
}

aclError aclrtMemcpyAsyncWithDesc(void *desc, aclrtMemcpyKind kind, aclrtStream stream)
{
    struct description description;
    if (!mock_read_memory(desc, &description, sizeof description) ||
        memcmp(description.mark, MARK, sizeof MARK) != 0 || description.kind != kind) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "%p must hold what aclrtSetMemcpyDesc wrote for kind %d", desc, (int)kind);
    }
    const struct copy *copy = &description.copy;
    return plain_async(copy->destination, copy->width, copy->source, copy->width, kind, stream);
}

static uint8_t *address_in(const void *at)
{
    uint8_t *address;
    return mock_read_memory(at, &address, sizeof address) ? address : NULL;
}

aclError aclrtMemcpyAsyncWithOffset(void **dst, size_t destMax, size_t dstDataOffset,
                                    const void **src, size_t count, size_t srcDataOffset,
                                    aclrtMemcpyKind kind, aclrtStream stream)
{
    uint8_t *destination = address_in(dst);
    const uint8_t *source = address_in(src);
    if (destination == NULL || source == NULL || dstDataOffset > destMax) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "dst and src must point to addresses, and dstDataOffset (%zu) lie in "
                         "destMax (%zu)",
                         dstDataOffset, destMax);
    }
    return plain_async(destination + dstDataOffset, destMax - dstDataOffset,
                       source + srcDataOffset, count, kind, stream);
}

/* ---- many by one call -------------------------------------------------------------------------- */

struct batch {
    void *const *destinations;
    const size_t *capacities;
    void *const *sources;
    const size_t *sizes;
    size_t count;
    const aclrtMemcpyBatchAttr *attributes;
    const size_t *firsts; /* copies from which on an attribute holds */
    size_t attribute_count;
    const aclrtStream *stream; /* NULL: the host waits */
};

static aclError check_batch(const struct batch *batch)
{
    for (size_t i = 0; i < batch->attribute_count; i++) {
        const size_t first = batch->firsts[i];
        if (first >= batch->count || (i == 0 ? first != 0 : first <= batch->firsts[i - 1])) {
            return mock_fail(ACL_ERROR_INVALID_PARAM,
                             "attrsIndexes[%zu] is %zu: the first must be 0, each larger than the "
                             "one before, and all below numBatches (%zu)",
                             i, first, batch->count);
        }
    }
    return ACL_SUCCESS;
}

/* Return whether an address is at the attribute's location. */
static bool lies(const void *address, const aclrtMemLocation *location)
{
    const struct device *device = mock_device_of(address);
    return device == NULL ? location->type == ACL_MEM_LOCATION_TYPE_HOST
                          : location->type == ACL_MEM_LOCATION_TYPE_DEVICE &&
                                location->id == (uint32_t)device->id;
}

static aclError copy_one(const struct batch *batch, size_t i, const aclrtMemcpyBatchAttr *attribute)
{
    void *const destination = batch->destinations[i], *const source = batch->sources[i];
    const bool right =
        lies(destination, &attribute->dstLoc) && lies(source, &attribute->srcLoc);
    if (destination != NULL && source != NULL && !right) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "copy %zu goes from %p to %p, which do not both lie where its attribute "
                         "says (type %d of %u to type %d of %u)",
                         i, source, destination, (int)attribute->srcLoc.type,
                         attribute->srcLoc.id, (int)attribute->dstLoc.type, attribute->dstLoc.id);
    }
    return batch->stream == NULL
               ? plain(destination, batch->capacities[i], source, batch->sizes[i],
                       ACL_MEMCPY_DEFAULT)
               : plain_async(destination, batch->capacities[i], source, batch->sizes[i],
                             ACL_MEMCPY_DEFAULT, *batch->stream);
}

/* Run the copies in order, up to the first that fails; *failed is its index. */
static aclError copy_all(const struct batch *batch, size_t *failed)
{
    aclError status = check_batch(batch);
    for (size_t i = 0, next = 0; status == ACL_SUCCESS && i < batch->count; i++) {
        next += next < batch->attribute_count && batch->firsts[next] == i ? 1 : 0;
        status = copy_one(batch, i, &batch->attributes[next - 1]);
        *failed = i;
    }
    return status;
}

/* The same with the index of the failed copy, or SIZE_MAX if no copy was tried. */
static aclError copy_with_index(const struct batch *batch, size_t *failed)
{
    size_t last = SIZE_MAX;
    const aclError status = copy_all(batch, &last);
    if (status != ACL_SUCCESS) {
        *failed = last;
    }
    return status;
}

static aclError copy_without_index(const struct batch *batch)
{
    size_t unused;
    return copy_all(batch, &unused);
}

aclError aclrtMemcpyBatch(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
                          size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
                          size_t numAttrs, size_t *failIndex)
{
    const struct batch batch = {dsts,  destMaxs,     srcs,     sizes, numBatches,
                                attrs, attrsIndexes, numAttrs, NULL};
    return copy_with_index(&batch, failIndex);
}

aclError aclrtMemcpyBatchAsync(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
                               size_t numBatches, aclrtMemcpyBatchAttr *attrs,
                               size_t *attrsIndexes, size_t numAttrs, size_t *failIndex,
                               aclrtStream stream)
{
    const struct batch batch = {dsts,  destMaxs,     srcs,     sizes,  numBatches,
                                attrs, attrsIndexes, numAttrs, &stream};
    return copy_with_index(&batch, failIndex);
}

aclError aclrtMemcpyBatchV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
                            size_t numBatches, aclrtMemcpyBatchAttr *attrs, size_t *attrsIndexes,
                            size_t numAttrs)
{
    const struct batch batch = {dsts,  destMaxs,     srcs,     sizes, numBatches,
                                attrs, attrsIndexes, numAttrs, NULL};
    return copy_without_index(&batch);
}

aclError aclrtMemcpyBatchAsyncV2(void **dsts, size_t *destMaxs, void **srcs, size_t *sizes,
                                 size_t numBatches, aclrtMemcpyBatchAttr *attrs,
                                 size_t *attrsIndexes, size_t numAttrs, aclrtStream stream)
{
    const struct batch batch = {dsts,  destMaxs,     srcs,     sizes,  numBatches,
                                attrs, attrsIndexes, numAttrs, &stream};
    return copy_without_index(&batch);
}
