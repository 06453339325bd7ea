/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of streams, events, contexts and devices that CANN 9.1 adds. */
#include <stdio.h>
#include <string.h>

#include "context.h"
#include "error_message.h"
#include "event.h"
#include "stream.h"

/* ---- streams --------------------------------------------------------------------------------- */

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream *stream)
{
    aclError status;
    const struct context *context = mock_usable_context(&status);
    if (context != NULL) {
        *stream = context->default_stream->handle;
    }
    return status;
}

static aclError creation_option(aclrtStream handle, uint32_t *priority, uint32_t *flags)
{
    aclError status;
    const struct stream *stream = mock_stream_find(handle, false, &status);
    if (stream != NULL && priority != NULL) {
        *priority = stream->priority;
    } else if (stream != NULL) {
        *flags = stream->flags;
    }
    return status;
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t *priority)
{
    return creation_option(stream, priority, NULL);
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t *flags)
{
    return creation_option(stream, NULL, flags);
}

/* ---- how many are left ----------------------------------------------------------------------- */

static aclError left(uint32_t *count, bool events)
{
    aclError status;
    const struct context *context = mock_usable_context(&status);
    if (context != NULL) {
        const struct device *device = context->device;
        *count = events ? device->chip->events - device->events
                        : device->chip->streams - device->streams;
    }
    return status;
}

aclError aclrtGetStreamAvailableNum(uint32_t *streamCount)
{
    return left(streamCount, false);
}

aclError aclrtGetEventAvailNum(uint32_t *eventCount)
{
    return left(eventCount, true);
}

aclError aclrtGetEventId(aclrtEvent handle, uint32_t *id)
{
    aclError status;
    const struct event *event = mock_event_find(handle, &status);
    if (event != NULL) {
        *id = event->id;
    }
    return status;
}

/* ---- devices --------------------------------------------------------------------------------- */

aclError aclrtGetPrimaryCtxState(int32_t id, uint32_t *flags, int32_t *active)
{
    if (flags != NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "flags must be NULL");
    }
    const struct device *device = mock_device_find(id);
    if (device == NULL) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    *active = device->primary != NULL ? 1 : 0;
    return ACL_SUCCESS;
}

aclError aclrtDeviceGetUuid(int32_t id, aclrtUuid *uuid)
{
    const struct chip *chip = mock_device_chip();
    if (chip == NULL || mock_device_find(id) == NULL) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    memset(uuid, 0, sizeof *uuid);
    snprintf(uuid->bytes, sizeof uuid->bytes, "simulated-%d", (int)id);
    return ACL_SUCCESS;
}

aclError aclrtGetDeviceInfo(uint32_t id, aclrtDevAttr attribute, int64_t *value)
{
    const struct chip *chip = mock_device_chip();
    const struct device *device = chip == NULL ? NULL : mock_device_find((int32_t)id);
    if (device == NULL) {
        return ACL_ERROR_RT_INVALID_DEVICEID;
    }
    switch ((int)attribute) {
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
        *value = chip->ai_cores;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
        *value = chip->vector_cores;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
        *value = (int64_t)(device->open ? device->heap.limit : chip->memory_bytes);
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_L2_CACHE_SIZE:
        *value = chip->l2_bytes;
        return ACL_SUCCESS;
    case ACL_DEV_ATTR_IS_VIRTUAL:
        *value = 0; /* no part of a chip that others have the rest of */
        return ACL_SUCCESS;
    default:
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                         "the simulated NPU does not know attribute %d: it knows numbers of cores, "
                         "sizes of memory and of the L2 cache, and whether it is virtual",
                         (int)attribute);
    }
}
