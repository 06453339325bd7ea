/* SPDX-License-Identifier: Apache-2.0 */
/* Access rights of devices to mapped memory. */
#include "memory_access.h"

#include "error_message.h"

/* The device of a location, or NULL with the code in *status. */
static const struct device *find_device(const aclrtMemLocation *location, aclError *status)
{
    if (location->type != ACL_MEM_LOCATION_TYPE_DEVICE) {
        *status = mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                            "access of location type %d is not simulated: the host reaches memory "
                            "of a device by copies alone, so only devices can be let in",
                            (int)location->type);
        return NULL;
    }
    const struct device *device = mock_device_find((int32_t)location->id);
    if (device == NULL) {
        *status = mock_fail(ACL_ERROR_RT_INVALID_DEVICEID, "there is no device %u", location->id);
    }
    return device;
}

/* The mapping at an address, or NULL with the code in *status. */
static struct mapping *find_mapping(const void *address, aclError *status)
{
    const struct reservation *space = mock_space_of(address);
    struct mapping *mapping =
        space == NULL || space->number != 0
            ? NULL
            : mock_space_mapping_at(space, (uint64_t)((const uint8_t *)address - space->base));
    if (mapping == NULL) {
        *status = mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                            "nothing is mapped at %p; call aclrtMapMem first", address);
    }
    return mapping;
}

static aclError check(const aclrtMemAccessDesc *wanted)
{
    aclError status = ACL_SUCCESS;
    find_device(&wanted->location, &status);
    if (status == ACL_SUCCESS && wanted->flags != ACL_RT_MEM_ACCESS_FLAGS_NONE &&
        wanted->flags != ACL_RT_MEM_ACCESS_FLAGS_READ &&
        wanted->flags != ACL_RT_MEM_ACCESS_FLAGS_READWRITE) {
        status = mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "flags is %d; it must be one of aclrtMemAccessFlags: 0, 1 or 3",
                           (int)wanted->flags);
    }
    return status;
}

/* Nothing is changed unless all can be: `apply` comes the second time. */
static aclError walk(uint8_t *address, size_t size, const aclrtMemAccessDesc *wanted, bool apply)
{
    aclError status = ACL_SUCCESS;
    for (const uint8_t *end = address + size; address < end;) {
        struct mapping *mapping = find_mapping(address, &status);
        if (mapping == NULL) {
            return status;
        }
        const struct reservation *space = mock_space_of(address);
        const uint8_t *start = space->base + mapping->block.offset;
        if (start != address || mapping->block.size > (uint64_t)(end - start)) {
            return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                             "%p and size must be what went to aclrtMapMem: %llu bytes are mapped "
                             "from %p on",
                             (void *)address, (unsigned long long)mapping->block.size,
                             (const void *)start);
        }
        if (apply) {
            mapping->access[wanted->location.id] = (uint8_t)((int)wanted->flags | MOCK_ACCESS_SET);
        }
        address += mapping->block.size;
    }
    return ACL_SUCCESS;
}

aclError aclrtMemSetAccess(void *address, size_t size, aclrtMemAccessDesc *wanted, size_t count)
{
    aclError status = walk(address, size, wanted, false);
    for (size_t i = 0; i < count && status == ACL_SUCCESS; i++) {
        status = check(&wanted[i]);
    }
    for (size_t i = 0; i < count && status == ACL_SUCCESS; i++) {
        status = walk(address, size, &wanted[i], true);
    }
    return status;
}

aclError aclrtMemGetAccess(void *address, aclrtMemLocation *location, uint64_t *flag)
{
    aclError status = ACL_SUCCESS;
    const struct device *device = find_device(location, &status);
    const struct mapping *mapping = device == NULL ? NULL : find_mapping(address, &status);
    if (mapping != NULL) {
        *flag = mock_access_of(mapping, device);
    }
    return status;
}
