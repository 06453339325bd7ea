/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of device memory that is allocated and freed in stream order. Memory is there at once, and
 * is freed when the stream comes to it; a pool keeps none that is free. */
#include <stdlib.h>
#include <string.h>

#include "acl/acl_rt_memory_soma.h"
#include "error_message.h"
#include "host_task.h"
#include "pooled_memory.h"

enum { FIRST_ATTRIBUTE = ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES };

aclError aclrtMemPoolCreate(aclrtMemPool *memPool, const aclrtMemPoolProps *poolProps)
{
    const struct device *device = mock_device_find((int32_t)poolProps->location.id);
    if (poolProps->location.type != ACL_MEM_LOCATION_TYPE_DEVICE || device == NULL) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "the pool's location is type %d of %u; it must be that of a device",
                         (int)poolProps->location.type, poolProps->location.id);
    }
    struct pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) {
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a pool");
    }
    *pool = (struct pool){.device = device->id, .most = poolProps->maxSize};
    for (int i = FIRST_ATTRIBUTE; i < ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD; i++) {
        pool->values[i] = 1;
    }
    mock_pool_add(pool);
    *memPool = pool;
    return ACL_SUCCESS;
}

aclError aclrtMemPoolDestroy(const aclrtMemPool memPool)
{
    aclError status;
    struct pool *pool = mock_pool_find(memPool, &status);
    if (pool != NULL) {
        pool->destroyed = true;
        mock_pool_end_if_unused(pool);
    }
    return status;
}

aclError aclrtMemPoolMallocAsync(void **ptr, size_t size, aclrtMemPool memPool, aclrtStream handle)
{
    aclError status;
    struct pool *pool = mock_pool_find(memPool, &status);
    const struct stream *stream = pool == NULL ? NULL : mock_stream_find(handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    struct device *device = stream->context->device;
    const uint64_t used = pool->values[ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT];
    if (size == 0 || device->id != pool->device) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "size is %zu, which must be more than 0; the pool is that of device %d, "
                         "and the stream that of device %d",
                         size, pool->device, device->id);
    }
    const bool fits = pool->most == 0 || (size <= pool->most && used <= pool->most - size);
    if (!fits || !mock_heap_allocate(&device->heap, (size + 31) / 32 * 32, size, ptr)) {
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                         "the pool has no %zu bytes left: %llu of %zu are in use", size,
                         (unsigned long long)used, pool->most);
    }
    if (!mock_pooled_add(pool, *ptr, size)) {
        mock_heap_free(&device->heap, *ptr);
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a pool");
    }
    return ACL_SUCCESS;
}

/* Free memory in the order of a stream; it happens when the task is over, or dropped. */
struct release {
    struct device *device;
    uint64_t session;
    void *address;
};

static bool reach(void *given, bool wrong, aclError *failed, const char **text)
{
    (void)given;
    (void)wrong;
    (void)failed;
    (void)text;
    return true;
}

static void end(void *given)
{
    struct release *release = given;
    if (release->device->session == release->session) {
        mock_heap_free(&release->device->heap, release->address);
    }
    free(release);
}

aclError aclrtMemPoolFreeAsync(void *ptr, aclrtStream handle)
{
    aclError status;
    const struct stream *stream = mock_stream_find(handle, true, &status);
    const size_t bytes = stream == NULL ? 0 : mock_pooled_bytes(ptr);
    if (bytes == 0) {
        return stream == NULL ? status
                              : mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                                          "%p is no memory of a pool: it was freed, or did not "
                                          "come from aclrtMemPoolMallocAsync",
                                          ptr);
    }
    struct release *release = malloc(sizeof *release);
    struct mock_host_task task = {
        .work = release, .run = reach, .end = end, .ranges = malloc(sizeof *task.ranges)};
    if (release == NULL || task.ranges == NULL) {
        free(release);
        free(task.ranges);
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a task");
    }
    struct device *device = stream->context->device;
    *release = (struct release){device, device->session, ptr};
    task.ranges[0] = (struct mock_range){ptr, bytes, true, false};
    task.range_count = 1;
    mock_pooled_end(ptr);
    return mock_stream_submit_host_task(handle, &task);
}

/* ---- attributes --------------------------------------------------------------------------- */

static aclError check_attribute(aclrtMemPoolAttr attr)
{
    return (int)attr >= FIRST_ATTRIBUTE && (int)attr < MOCK_POOL_ATTRIBUTES
               ? ACL_SUCCESS
               : mock_fail(ACL_ERROR_RT_PARAM_INVALID, "attr is %d; it must be 1 to 8", (int)attr);
}

static bool is_switch(aclrtMemPoolAttr attr)
{
    return attr < ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD;
}

aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value)
{
    aclError status;
    struct pool *pool = mock_pool_find(memPool, &status);
    status = pool == NULL ? status : check_attribute(attr);
    if (status != ACL_SUCCESS) {
        return status;
    }
    uint64_t given = 0;
    memcpy(&given, value, is_switch(attr) ? sizeof(int32_t) : sizeof given);
    const bool measured = attr > ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD;
    const bool high = attr == ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH ||
                      attr == ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH;
    if (measured && (!high || given != 0)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "attribute %d is measured; only the highest values can be set, to 0",
                         (int)attr);
    }
    pool->values[attr] = given;
    return ACL_SUCCESS;
}

aclError aclrtMemPoolGetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void *value)
{
    aclError status;
    const struct pool *pool = mock_pool_find(memPool, &status);
    status = pool == NULL ? status : check_attribute(attr);
    if (status == ACL_SUCCESS) {
        memcpy(value, &pool->values[attr], is_switch(attr) ? sizeof(int32_t) : sizeof(uint64_t));
    }
    return status;
}

/* Nothing is kept that could be given back. */
aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t minBytesToKeep)
{
    aclError status;
    (void)minBytesToKeep;
    mock_pool_find(memPool, &status);
    return status;
}
