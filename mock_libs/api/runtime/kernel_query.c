/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of kernels that were compiled for the host. */
#include <stdlib.h>
#include <string.h>

#include "error_message.h"
#include "host_kernel.h"

enum { SLOT = 8 };

aclError aclrtGetFunctionName(aclrtFuncHandle function, uint32_t maxLen, char *name)
{
    aclError status;
    const struct pyaclnn_kernel *kernel = mock_kernel_find(function, &status);
    if (kernel == NULL) {
        return status;
    }
    const size_t bytes = strlen(kernel->name) + 1;
    if (bytes > maxLen) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "maxLen is %u; the name has %zu bytes", maxLen,
                         bytes);
    }
    memcpy(name, kernel->name, bytes);
    return ACL_SUCCESS;
}

aclError aclrtFunctionGetBinary(const aclrtFuncHandle function, aclrtBinHandle *binHandle)
{
    aclError status;
    if (mock_kernel_find(function, &status) != NULL) {
        *binHandle = mock_binary_of(function);
    }
    return status;
}

/* One piece of code for both kinds of core. */
aclError aclrtGetFunctionAddr(aclrtFuncHandle function, void **aicAddr, void **aivAddr)
{
    aclError status;
    const struct pyaclnn_kernel *kernel = mock_kernel_find(function, &status);
    if (kernel != NULL) {
        *aicAddr = *aivAddr = (void *)(uintptr_t)kernel->function;
    }
    return status;
}

aclError aclrtGetFunctionAttribute(aclrtFuncHandle function, aclrtFuncAttribute attribute,
                                   int64_t *value)
{
    aclError status;
    if (mock_kernel_find(function, &status) == NULL) {
        return status;
    }
    if (attribute != ACL_FUNC_ATTR_KERNEL_TYPE) {
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                         "attrType is %d; a kernel compiled for the host has only a type, 1",
                         (int)attribute);
    }
    *value = ACL_KERNEL_TYPE_AICORE;
    return ACL_SUCCESS;
}

/* The parameters lie in slots, as those of aclrtKernelArgsAppend do. */
static aclError find_parameter(const struct pyaclnn_kernel *kernel, size_t index, size_t *offset)
{
    if (index >= kernel->parameter_count) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "paramIndex is %zu; %s has %zu parameters",
                         index, kernel->name, kernel->parameter_count);
    }
    *offset = 0;
    for (size_t i = 0; i < index; i++) {
        *offset += (kernel->parameters[i] + SLOT - 1) / SLOT * SLOT;
    }
    return ACL_SUCCESS;
}

aclError aclrtFunctionGetParamCount(const void *function, size_t *paramCount)
{
    aclError status;
    const struct pyaclnn_kernel *kernel = mock_kernel_find(function, &status);
    if (kernel != NULL) {
        *paramCount = kernel->parameter_count;
    }
    return status;
}

aclError aclrtFunctionGetParamInfo(const void *function, size_t paramIndex, size_t *paramOffset,
                                   size_t *paramSize)
{
    aclError status;
    size_t offset = 0;
    const struct pyaclnn_kernel *kernel = mock_kernel_find(function, &status);
    status = kernel == NULL ? status : find_parameter(kernel, paramIndex, &offset);
    if (status == ACL_SUCCESS && paramOffset != NULL) {
        *paramOffset = offset;
    }
    if (status == ACL_SUCCESS && paramSize != NULL) {
        *paramSize = kernel->parameters[paramIndex];
    }
    return status;
}

static bool ends_in(const char *name, uint64_t number)
{
    const char *last = strrchr(name, '_');
    char *end = NULL;
    return last != NULL && last[1] >= '0' && last[1] <= '9' &&
           strtoull(last + 1, &end, 10) == number && *end == '\0';
}

/* The key of a tiling is the number at the end of the kernel's name. */
aclError aclrtBinaryGetFunctionByEntry(aclrtBinHandle handle, uint64_t funcEntry,
                                       aclrtFuncHandle *function)
{
    const struct mock_binary *binary = mock_binary_find(handle);
    if (binary == NULL) {
        return mock_fail(ACL_ERROR_RT_INVALID_HANDLE,
                         "%p is no binary: it was unloaded, or never was one", handle);
    }
    for (size_t i = 0; i < binary->table.count; i++) {
        if (ends_in(binary->table.kernels[i].name, funcEntry)) {
            *function = (aclrtFuncHandle)(uintptr_t)&binary->table.kernels[i];
            return ACL_SUCCESS;
        }
    }
    return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                     "the binary has no kernel whose name ends in _%llu",
                     (unsigned long long)funcEntry);
}

/* A symbol is the kernel's function in the program. */
aclError aclrtGetFuncBySymbol(const void *symbol, aclrtFuncHandle *function)
{
    const struct pyaclnn_kernel *kernel = mock_kernel_of(symbol);
    if (kernel == NULL) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is no kernel of a loaded binary", symbol);
    }
    *function = (aclrtFuncHandle)(uintptr_t)kernel;
    return ACL_SUCCESS;
}
