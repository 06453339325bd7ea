/* SPDX-License-Identifier: Apache-2.0 */
/* Keys under which other processes of this machine import memory of aclrtMalloc. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "address_query.h"
#include "address_space.h"
#include "context.h"
#include "error_message.h"
#include "hazard.h"
#include "share.h"

enum { KEY_BYTES = 65 }; /* what CANN's documents ask for */

static const char KEY[] = "pyaclnn-%016" PRIx64;

/* ---- export --------------------------------------------------------------------------------- */

static aclError check_exported(const struct device *device, const void *address, size_t size)
{
    if (device != NULL && mock_space_of(address) != NULL) {
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                         "%p is mapped memory; what aclrtMallocPhysical gave is shared by "
                         "aclrtMemExportToShareableHandle, and what was imported by who has it",
                         address);
    }
    return mock_is_on_device("devPtr", address, size)
               ? ACL_SUCCESS
               : mock_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is not %zu bytes of live device memory",
                           address, size);
}

aclError aclrtIpcMemGetExportKey(void *address, size_t size, char *key, size_t length,
                                 uint64_t flags)
{
    if (length < KEY_BYTES || flags > ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "len %zu must be at least %d, flags 0x%" PRIx64 " must be 0 or 1", length,
                         KEY_BYTES, flags);
    }
    const struct device *device = mock_device_of(address);
    const aclError status = check_exported(device, address, size);
    if (status != ACL_SUCCESS) {
        return status;
    }
    const uint64_t offset = (uint64_t)((uint8_t *)address - device->heap.base);
    const uint64_t number = mock_share(device, offset, size, flags != 0);
    if (number == 0) {
        return mock_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "too much memory is exported already");
    }
    snprintf(key, length, KEY, number);
    return ACL_SUCCESS;
}

/* The number in a key, or 0 with the code in *status. */
static uint64_t number_in(const char *key, aclError *status)
{
    char same[KEY_BYTES];
    uint64_t number = 0;
    *status = ACL_SUCCESS;
    sscanf(key, "pyaclnn-%16" SCNx64, &number);
    snprintf(same, sizeof same, KEY, number);
    if (number == 0 || strcmp(key, same) != 0) {
        *status = mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                            "key is none that aclrtIpcMemGetExportKey has given");
        return 0;
    }
    return number;
}

aclError aclrtIpcMemSetImportPid(const char *key, int32_t *processes, size_t count)
{
    aclError status;
    const uint64_t number = number_in(key, &status);
    if (number == 0) {
        return status;
    }
    return mock_share_allow(number, processes, count)
               ? ACL_SUCCESS
               : mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "this process exports nothing as %s, or to too many processes", key);
}

/* ---- import ---------------------------------------------------------------------------------- */

aclError aclrtIpcMemImportByKey(void **address, const char *key, uint64_t flags)
{
    aclError status;
    const uint64_t number = number_in(key, &status);
    if (number == 0) {
        return status;
    }
    if (flags > ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "flags 0x%" PRIx64 " are neither 0 nor 1", flags);
    }
    if (mock_space_imported(number) != NULL) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "this process has imported %s, and not closed it", key);
    }
    const struct context *context = mock_usable_context(&status);
    struct physical *physical;
    status = context == NULL ? status : mock_import(number, context->device, &physical);
    if (status != ACL_SUCCESS) {
        return status;
    }
    *address = mock_space_import(physical);
    if (*address == NULL) {
        const int error = errno;
        mock_import_end(physical);
        mock_physical_free(physical, false);
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "the host cannot map it: %s",
                         strerror(error));
    }
    return ACL_SUCCESS;
}

/* End the import, or else the export. */
aclError aclrtIpcMemClose(const char *key)
{
    aclError status;
    const uint64_t number = number_in(key, &status);
    struct reservation *space = number == 0 ? NULL : mock_space_imported(number);
    if (space != NULL) {
        mock_hazard_free(space->base, space->bytes, MOCK_UNMAPPED_IN_USE);
        mock_space_import_end(space);
        return ACL_SUCCESS;
    }
    return number == 0 || mock_share_withdraw(number)
               ? status
               : mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "this process neither exports nor has imported %s: it was closed "
                           "before, or the memory was freed",
                           key);
}
