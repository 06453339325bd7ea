/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the host reaches at its device address, and advice about where it is to lie, which is
 * kept and returned: it lies in one place. Advice holds for the whole allocation.
 * Source: CANN: runtime aclrt_impl/memory.cpp, api_impl.cc. */
#include "managed_memory.h"

#include "error_message.h"
#include "stream.h"

enum { ON_HOST = -1, NOWHERE = -2 };

aclError aclrtMemAllocManaged(void **ptr, uint64_t size, uint32_t flag)
{
    aclError status;
    const struct context *context = mock_usable_context(&status);
    const uint64_t bytes = (size + MOCK_MANAGED_PAGE - 1) / MOCK_MANAGED_PAGE * MOCK_MANAGED_PAGE;
    if (context == NULL) {
        return status;
    }
    if (flag != ACL_RT_MEM_ATTACH_GLOBAL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "flag is %u; it must be 1", flag);
    }
    if (size == 0 || bytes < size) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "size is %llu", (unsigned long long)size);
    }
    struct device *device = context->device;
    *ptr = mock_managed_new(device, size, bytes);
    return *ptr != NULL ? ACL_SUCCESS
                        : mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                                    "device %d has no %llu bytes left", device->id,
                                    (unsigned long long)bytes);
}

static aclError check_location(aclrtMemManagedLocation location)
{
    if ((int)location.type <= ACL_MEM_LOCATIONTYPE_INVALID ||
        location.type > ACL_MEM_LOCATIONTYPE_HOST_NUMA_CURRENT) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "the location has type %d; it must be 1 to 4",
                         (int)location.type);
    }
    return location.type != ACL_MEM_LOCATIONTYPE_DEVICE || mock_device_find(location.id) != NULL
               ? ACL_SUCCESS
               : ACL_ERROR_RT_INVALID_DEVICEID;
}

aclError aclrtMemManagedAdvise(const void *const ptr, uint64_t size,
                               aclrtMemManagedAdviseType advise, aclrtMemManagedLocation location)
{
    aclError status;
    struct managed *managed = mock_managed_find(ptr, size, &status);
    const bool placed = advise >= ACL_MEM_ADVISE_SET_PREFERRED_LOCATION &&
                        advise != ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
    if (managed != NULL && placed) {
        status = check_location(location);
    }
    if (status != ACL_SUCCESS) {
        return status;
    }
    const bool device = location.type == ACL_MEM_LOCATIONTYPE_DEVICE;
    const uint64_t bit = placed && device ? UINT64_C(1) << location.id : 0;
    switch ((int)advise) {
    case ACL_MEM_ADVISE_SET_READ_MOSTLY:
    case ACL_MEM_ADVISE_UNSET_READ_MOSTLY:
        managed->read_mostly = advise == ACL_MEM_ADVISE_SET_READ_MOSTLY;
        return ACL_SUCCESS;
    case ACL_MEM_ADVISE_SET_PREFERRED_LOCATION:
        managed->preferred = location;
        return ACL_SUCCESS;
    case ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
        managed->preferred = (aclrtMemManagedLocation){ACL_MEM_LOCATIONTYPE_INVALID, 0};
        return ACL_SUCCESS;
    case ACL_MEM_ADVISE_SET_ACCESSED_BY:
        managed->accessed_by |= bit;
        return ACL_SUCCESS;
    case ACL_MEM_ADVISE_UNSET_ACCESSED_BY:
        managed->accessed_by &= ~bit;
        return ACL_SUCCESS;
    default:
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "advise is %d; it must be 0 to 5",
                         (int)advise);
    }
}

/* The location as one number: a device, the host, or nowhere. */
static int32_t place_of(aclrtMemManagedLocation location)
{
    return location.type == ACL_MEM_LOCATIONTYPE_INVALID  ? NOWHERE
           : location.type == ACL_MEM_LOCATIONTYPE_DEVICE ? location.id
                                                          : ON_HOST;
}

static int32_t attribute_of(const struct managed *managed, aclrtMemManagedRangeAttribute attribute)
{
    switch ((int)attribute) {
    case ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
        return managed->read_mostly;
    case ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
        return place_of(managed->preferred);
    case ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
        return (int32_t)managed->preferred.type;
    case ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
        return managed->preferred.id;
    case ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
        return place_of(managed->prefetched);
    case ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
        return (int32_t)managed->prefetched.type;
    default:
        return managed->prefetched.id;
    }
}

static aclError get_attribute(const struct managed *managed,
                              aclrtMemManagedRangeAttribute attribute, void *data, size_t bytes)
{
    int32_t *values = data;
    const bool list = attribute == ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
    if ((int)attribute < ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY ||
        attribute > ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID || data == NULL ||
        (list ? bytes == 0 || bytes % sizeof *values != 0 : bytes != sizeof *values)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "attribute %d must be 1 to 8, and have data of 4 bytes, not %zu",
                         (int)attribute, bytes);
    }
    if (!list) {
        *values = attribute_of(managed, attribute);
        return ACL_SUCCESS;
    }
    size_t count = 0;
    for (int32_t device = 0; device < MOCK_MAX_DEVICES && count < bytes / sizeof *values; device++) {
        if ((managed->accessed_by >> device & 1) != 0) {
            values[count++] = device;
        }
    }
    while (count < bytes / sizeof *values) {
        values[count++] = NOWHERE;
    }
    return ACL_SUCCESS;
}

aclError aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute attribute, const void *ptr,
                                size_t size, void *data, size_t dataSize)
{
    aclError status;
    const struct managed *managed = mock_managed_find(ptr, size, &status);
    return managed == NULL ? status : get_attribute(managed, attribute, data, dataSize);
}

aclError aclrtMemManagedGetAttrs(aclrtMemManagedRangeAttribute *attributes, size_t numAttributes,
                                 const void *ptr, size_t size, void **data, size_t *dataSizes)
{
    aclError status;
    const struct managed *managed = mock_managed_find(ptr, size, &status);
    for (size_t i = 0; status == ACL_SUCCESS && i < numAttributes; i++) {
        status = get_attribute(managed, attributes[i], data[i], dataSizes[i]);
    }
    return status;
}

static aclError prefetch(const void *ptr, size_t size, aclrtMemManagedLocation location)
{
    aclError status;
    struct managed *managed = mock_managed_find(ptr, size, &status);
    status = managed == NULL ? status : check_location(location);
    if (status == ACL_SUCCESS) {
        managed->prefetched = location;
    }
    return status;
}

static aclError check_call(uint64_t flags, aclrtStream handle)
{
    aclError status;
    if (flags != 0) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "flags must be 0");
    }
    mock_stream_find(handle, true, &status);
    return status;
}

aclError aclrtMemManagedPrefetchAsync(const void *ptr, size_t size,
                                      aclrtMemManagedLocation location, uint32_t flags,
                                      aclrtStream stream)
{
    const aclError status = check_call(flags, stream);
    return status != ACL_SUCCESS ? status : prefetch(ptr, size, location);
}

/* A location holds from its range on, as attributes of aclrtMemcpyBatch do. */
aclError aclrtMemManagedPrefetchBatchAsync(const void **ptrs, size_t *sizes, size_t count,
                                           aclrtMemManagedLocation *prefetchLocs,
                                           size_t *prefetchLocIdxs, size_t numPrefetchLocs,
                                           uint64_t flags, aclrtStream stream)
{
    aclError status = check_call(flags, stream);
    for (size_t i = 0; status == ACL_SUCCESS && i < numPrefetchLocs; i++) {
        const size_t first = prefetchLocIdxs[i];
        if (first >= count || (i == 0 ? first != 0 : first <= prefetchLocIdxs[i - 1])) {
            status = mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                               "prefetchLocIdxs[%zu] is %zu: the first must be 0, each larger than "
                               "the one before, and all below count (%zu)",
                               i, first, count);
        }
    }
    for (size_t i = 0, next = 0; status == ACL_SUCCESS && i < count; i++) {
        next += next < numPrefetchLocs && prefetchLocIdxs[next] == i ? 1 : 0;
        status = prefetch(ptrs[i], sizes[i], prefetchLocs[next - 1]);
    }
    return status;
}
