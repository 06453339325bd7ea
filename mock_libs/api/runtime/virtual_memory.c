/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses and physical memory by separate calls. */
#include <errno.h>
#include <string.h>

#include "address_space.h"
#include "error_message.h"
#include "hazard.h"
#include "share.h"
#include "violation.h"

enum { HUGE_PAGES = 1, GIGABYTE = 1 << 30 };

static bool is_gigabyte(aclrtMemAttr attr)
{
    return attr == ACL_HBM_MEM_HUGE1G || attr == ACL_HBM_MEM_P2P_HUGE1G ||
           attr == ACL_MEM_HUGE1G || attr == ACL_MEM_P2P_HUGE1G;
}

static uint64_t granule_of(const aclrtPhysicalMemProp *property)
{
    return is_gigabyte(property->memAttr) ? GIGABYTE : MOCK_GRANULE;
}

/* ---- addresses ----------------------------------------------------------------------------- */

aclError aclrtReserveMemAddress(void **address, size_t size, size_t alignment, void *hint,
                                uint64_t flags)
{
    if ((alignment & (alignment - 1)) != 0 || flags > HUGE_PAGES) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "alignment %zu must be 0 or a power of two, flags 0x%llx must be 0 or 1",
                         alignment, (unsigned long long)flags);
    }
    const uint64_t bytes = (size + MOCK_GRANULE - 1) / MOCK_GRANULE * MOCK_GRANULE;
    const struct reservation *space =
        bytes < size ? NULL
                     : mock_space_reserve(
                           bytes, alignment > MOCK_GRANULE ? alignment : MOCK_GRANULE, hint);
    if (space == NULL) {
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                         "the process has no %zu bytes of addresses left (%s)", size,
                         strerror(bytes < size ? EOVERFLOW : errno));
    }
    *address = space->base;
    return ACL_SUCCESS;
}

aclError aclrtReserveMemAddressNoUCMemory(void **address, size_t size, size_t alignment,
                                          void *hint, uint64_t flags)
{
    return aclrtReserveMemAddress(address, size, alignment, hint, flags);
}

/* The reservation that holds an address, or NULL with the code in *status. */
static struct reservation *find_space(const void *address, aclError *status)
{
    *status = ACL_SUCCESS;
    struct reservation *space = mock_space_of(address);
    if (space == NULL || space->number != 0) {
        space = NULL;
        *status = mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                            "%p is no address of aclrtReserveMemAddress, or was given back",
                            address);
    }
    return space;
}

aclError aclrtReleaseMemAddress(void *address)
{
    aclError status;
    struct reservation *space = find_space(address, &status);
    if (space == NULL) {
        return status;
    }
    if (space->base != address) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "%p is not the start of the reservation, which is %p", address,
                         (void *)space->base);
    }
    const struct mapping *mapping = mock_space_overlapping(space, 0, space->bytes);
    if (mapping != NULL) {
        mock_violate(MOCK_ADDRESSES_RELEASED_WHILE_MAPPED, "reserved addresses", address,
                     &mapping->block.history, "%llu bytes are still mapped at %p",
                     (unsigned long long)mapping->block.size,
                     (void *)(space->base + mapping->block.offset));
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "memory is still mapped at %p; call aclrtUnmapMem first",
                         (void *)(space->base + mapping->block.offset));
    }
    mock_space_release(space);
    return ACL_SUCCESS;
}

/* ---- physical memory ------------------------------------------------------------------------ */

static aclError check_property(const aclrtPhysicalMemProp *property)
{
    if (property->allocationType != ACL_MEM_ALLOCATION_TYPE_PINNED ||
        (int)property->memAttr < ACL_DDR_MEM || property->memAttr > ACL_MEM_P2P_HUGE1G) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "allocationType is %d, memAttr is %d",
                         (int)property->allocationType, (int)property->memAttr);
    }
    if (property->location.type != ACL_MEM_LOCATION_TYPE_DEVICE) {
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                         "physical memory of location type %d is not simulated: only that of a "
                         "device is",
                         (int)property->location.type);
    }
    return ACL_SUCCESS;
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle *handle, size_t size,
                             const aclrtPhysicalMemProp *property, uint64_t flags)
{
    aclError status = check_property(property);
    if (status != ACL_SUCCESS || mock_usable_context(&status) == NULL) {
        return status;
    }
    if (size % granule_of(property) != 0 || flags != 0) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "size %zu must be a multiple of %llu (aclrtMemGetAllocationGranularity), "
                         "flags 0x%llx must be 0",
                         size, (unsigned long long)granule_of(property),
                         (unsigned long long)flags);
    }
    struct device *device = mock_device_find((int32_t)property->location.id);
    if (device == NULL || !device->open) {
        return mock_fail(ACL_ERROR_RT_INVALID_DEVICEID, "device %u is not open",
                         property->location.id);
    }
    struct physical *physical = mock_physical_new(device, size);
    if (physical == NULL) {
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                         "device %d has no %zu bytes left: %llu of %llu are in use%s", device->id,
                         size, (unsigned long long)device->heap.used,
                         (unsigned long long)device->heap.limit, device->limit_reason);
    }
    physical->property = *property;
    *handle = physical->handle;
    return ACL_SUCCESS;
}

aclError aclrtMemRetainAllocationHandle(void *address, aclrtDrvMemHandle *handle)
{
    aclError status;
    const struct reservation *space = find_space(address, &status);
    const struct mapping *mapping =
        space == NULL
            ? NULL
            : mock_space_mapping_at(space, (uint64_t)((uint8_t *)address - space->base));
    if (mapping == NULL) {
        return space == NULL ? status
                             : mock_fail(ACL_ERROR_RT_PARAM_INVALID, "nothing is mapped at %p",
                                         address);
    }
    mapping->physical->retained++;
    *handle = mapping->physical->handle;
    return ACL_SUCCESS;
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle)
{
    aclError status;
    struct physical *physical = mock_physical_find(handle, &status);
    if (physical == NULL) {
        return status;
    }
    if (physical->retained > 0) {
        physical->retained--;
        return ACL_SUCCESS;
    }
    if (physical->mapped > 0) {
        enum mock_mark mark;
        struct mock_history history;
        mock_handle_fate(handle, MOCK_PHYSICAL, &mark, &history);
        mock_violate(MOCK_PHYSICAL_FREED_WHILE_MAPPED, "physical memory", handle, &history,
                     "these %llu bytes are mapped to %u place(s)",
                     (unsigned long long)physical->bytes, physical->mapped);
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "physical memory is still mapped; call aclrtUnmapMem first");
    }
    if (physical->source != 0) {
        mock_import_end(physical);
        mock_physical_free(physical, false);
        return ACL_SUCCESS;
    }
    mock_physical_free(physical,
                       mock_share_end(physical->device, physical->offset, physical->bytes));
    return ACL_SUCCESS;
}

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp *property,
                                          aclrtMemGranularityOptions option, size_t *result)
{
    if ((int)option != ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM &&
        option != ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "option %d is neither of the two", (int)option);
    }
    const aclError status = check_property(property);
    if (status == ACL_SUCCESS) {
        *result = granule_of(property);
    }
    return status;
}

aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle,
                                                   aclrtPhysicalMemProp *property)
{
    aclError status;
    const struct physical *physical = mock_physical_find(handle, &status);
    if (physical != NULL) {
        *property = physical->property;
    }
    return status;
}

/* ---- bringing the two together --------------------------------------------------------------- */

static aclError report_outside(const void *address, const struct reservation *space, size_t size)
{
    mock_violate(MOCK_MAPPED_OUTSIDE_RESERVATION, "address", address,
                 space == NULL ? NULL : &space->history,
                 "%zu bytes from this address on are not inside of %s", size,
                 space == NULL ? "any reservation" : "its reservation");
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                     "%zu bytes at %p are not reserved; call aclrtReserveMemAddress first", size,
                     address);
}

/* 0, or why a part of physical memory cannot be mapped so far into a reservation. */
static aclError check_mapping(const struct reservation *space, uint64_t start, size_t size,
                              size_t offset, const struct physical *physical)
{
    if (size == 0 || (start | size | offset) % MOCK_GRANULE != 0 || offset > physical->bytes ||
        size > physical->bytes - offset) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "address, size %zu and offset %zu must be multiples of %d and lie inside "
                         "of the %llu bytes of physical memory",
                         size, offset, MOCK_GRANULE, (unsigned long long)physical->bytes);
    }
    if (size > space->bytes - start) {
        return report_outside(space->base + start, space, size);
    }
    const struct mapping *mapped = mock_space_overlapping(space, start, size);
    if (mapped != NULL) {
        mock_violate(MOCK_MAPPED_TWICE, "address", space->base + start, &mapped->block.history,
                     "%llu bytes are mapped at %p", (unsigned long long)mapped->block.size,
                     (void *)(space->base + mapped->block.offset));
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "memory is mapped there already; call aclrtUnmapMem first");
    }
    return ACL_SUCCESS;
}

aclError aclrtMapMem(void *address, size_t size, size_t offset, aclrtDrvMemHandle handle,
                     uint64_t flags)
{
    aclError status;
    struct physical *physical = mock_physical_find(handle, &status);
    if (physical == NULL) {
        return status;
    }
    struct reservation *space = find_space(address, &status);
    if (space == NULL) {
        return report_outside(address, NULL, size);
    }
    if (flags != 0) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "flags 0x%llx must be 0",
                         (unsigned long long)flags);
    }
    if (space->mappings.root != NULL && space->device != physical->device) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "memory of device %d cannot be mapped beside memory of device %d",
                         physical->device->id, space->device->id);
    }
    const uint64_t start = (uint64_t)((uint8_t *)address - space->base);
    status = check_mapping(space, start, size, offset, physical);
    const int error =
        status == ACL_SUCCESS ? mock_space_map(space, start, physical, offset, size) : 0;
    return error == 0 ? status
                      : mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "the host cannot map it: %s",
                                  strerror(error));
}

aclError aclrtUnmapMem(void *address)
{
    aclError status;
    struct reservation *space = find_space(address, &status);
    const uint64_t start = space == NULL ? 0 : (uint64_t)((uint8_t *)address - space->base);
    struct mapping *mapping = space == NULL ? NULL : mock_space_mapping_at(space, start);
    if (mapping == NULL || mapping->block.offset != start) {
        mock_violate(MOCK_NOT_MAPPED, "address", address,
                     mapping == NULL ? NULL : &mapping->block.history, "%s",
                     mapping == NULL ? "nothing is mapped to it"
                                     : "it lies inside of what is mapped; unmap its start");
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "%p is not the start of mapped memory: it was unmapped before, or did not "
                         "go to aclrtMapMem",
                         address);
    }
    mock_hazard_free(address, mapping->block.size, MOCK_UNMAPPED_IN_USE);
    mock_space_unmap(space, mapping);
    return ACL_SUCCESS;
}
