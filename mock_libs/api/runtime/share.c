/* SPDX-License-Identifier: Apache-2.0 */
/* Handles under which other processes of this machine import physical memory. */
#include "share.h"

#include <string.h>

#include "context.h"
#include "error_message.h"

static aclError export_memory(aclrtDrvMemHandle handle, uint64_t flags, uint64_t *number)
{
    aclError status;
    const struct physical *physical = mock_physical_find(handle, &status);
    if (physical == NULL) {
        return status;
    }
    if (flags > ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "flags 0x%llx are neither 0 nor 1",
                         (unsigned long long)flags);
    }
    if (physical->source != 0) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "this memory was imported; who has allocated it can export it");
    }
    const uint64_t made =
        mock_share(physical->device, physical->offset, physical->bytes, flags != 0);
    if (made == 0) {
        return mock_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "too much memory is exported already");
    }
    *number = made;
    return ACL_SUCCESS;
}

aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType,
                                         uint64_t flags, uint64_t *shareableHandle)
{
    if (handleType != ACL_MEM_HANDLE_TYPE_NONE) {
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                         "aclrtMemExportToShareableHandle: handleType %d is not simulated",
                         (int)handleType);
    }
    return export_memory(handle, flags, shareableHandle);
}

static aclError allow(uint64_t number, const int32_t *processes, size_t count)
{
    if (!mock_share_allow(number, processes, count)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "this process exports nothing as 0x%llx, or to too many processes",
                         (unsigned long long)number);
    }
    return ACL_SUCCESS;
}

aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t *pid, size_t pidNum)
{
    return allow(shareableHandle, pid, pidNum);
}

static aclError import_memory(uint64_t number, struct device *device, aclrtDrvMemHandle *handle)
{
    struct physical *physical;
    if (device == NULL || !device->open) {
        return mock_fail(ACL_ERROR_RT_INVALID_DEVICEID, "the device to import to is not open");
    }
    const aclError status = mock_import(number, device, &physical);
    if (status == ACL_SUCCESS) {
        *handle = physical->handle;
    }
    return status;
}

aclError aclrtMemImportFromShareableHandle(uint64_t number, int32_t device,
                                           aclrtDrvMemHandle *handle)
{
    return import_memory(number, mock_device_find(device), handle);
}

/* ---- the newer forms ------------------------------------------------------------------------ */

/* A handle of a fabric leads between servers. Here there is one, and its first bytes are the number. */
static aclError check_type(aclrtMemSharedHandleType type)
{
    return type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT || type == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC
               ? ACL_SUCCESS
               : mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                           "there are no shareable handles of type %d", (int)type);
}

static uint64_t number_of(const void *handle)
{
    uint64_t number;
    memcpy(&number, handle, sizeof number); /* a fabric's bytes are not aligned */
    return number;
}

aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags,
                                           aclrtMemSharedHandleType shareType,
                                           void *shareableHandle)
{
    uint64_t number = 0;
    aclError status = check_type(shareType);
    if (status == ACL_SUCCESS) {
        status = export_memory(handle, flags, &number);
    }
    if (status != ACL_SUCCESS) {
        return status;
    }
    if (shareType == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC) {
        memset(shareableHandle, 0, sizeof(aclrtMemFabricHandle));
    }
    memcpy(shareableHandle, &number, sizeof number);
    return ACL_SUCCESS;
}

aclError aclrtMemSetPidToShareableHandleV2(void *shareableHandle,
                                           aclrtMemSharedHandleType shareType, int32_t *pid,
                                           size_t pidNum)
{
    const aclError status = check_type(shareType);
    if (status != ACL_SUCCESS) {
        return status;
    }
    return allow(number_of(shareableHandle), pid, pidNum);
}

static aclError import_here(uint64_t number, aclrtDrvMemHandle *handle)
{
    aclError status;
    const struct context *context = mock_usable_context(&status);
    return context == NULL ? status : import_memory(number, context->device, handle);
}

aclError aclrtMemImportFromShareableHandleV2(void *shareableHandle,
                                             aclrtMemSharedHandleType shareType, uint64_t flags,
                                             aclrtDrvMemHandle *handle)
{
    const aclError status = check_type(shareType);
    if (status != ACL_SUCCESS || flags != 0) {
        return status != ACL_SUCCESS ? status
                                     : mock_fail(ACL_ERROR_INVALID_PARAM, "flags are not 0");
    }
    return import_here(number_of(shareableHandle), handle);
}
