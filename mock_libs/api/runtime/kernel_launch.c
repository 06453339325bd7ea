/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of kernels that were compiled for the host, and their launch.
 * Source: CANN: runtime aclrt_impl/kernel.cpp, api_impl.cc. */
#include <string.h>

#include "error_message.h"
#include "host_kernel.h"

enum { MAX_ARGUMENTS = 128, MAX_BYTES = 64 << 10, SLOT = 8 };

/* Arguments that a thread puts together; the next ones of the thread take their place. */
struct arguments {
    const void *function;
    size_t bytes, count;
    size_t offsets[MAX_ARGUMENTS], sizes[MAX_ARGUMENTS];
    bool final;
    _Alignas(16) uint8_t block[MAX_BYTES];
};

static _Thread_local struct arguments own;

static struct arguments *find(const void *handle)
{
    return handle == &own ? &own : NULL;
}

static aclError no_arguments(const void *handle)
{
    return mock_fail(ACL_ERROR_RT_INVALID_HANDLE,
                     "%p is no handle of this thread's arguments, which aclrtKernelArgsInit gives",
                     handle);
}

static const struct pyaclnn_kernel *find_kernel(const void *function, aclError *status)
{
    const struct pyaclnn_kernel *kernel = mock_binary_kernel(function);
    *status = kernel != NULL ? ACL_SUCCESS
                             : mock_fail(ACL_ERROR_RT_INVALID_HANDLE,
                                         "%p is no function of a loaded binary", function);
    return kernel;
}

static size_t up(size_t bytes)
{
    return (bytes + SLOT - 1) / SLOT * SLOT;
}

aclError aclrtKernelArgsInit(aclrtFuncHandle function, aclrtArgsHandle *handle)
{
    aclError status;
    if (find_kernel(function, &status) == NULL) {
        return status;
    }
    own.function = function;
    own.bytes = own.count = 0;
    own.final = false;
    *handle = &own;
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle handle, void *data, size_t bytes,
                               aclrtParamHandle *given)
{
    struct arguments *arguments = find(handle);
    if (arguments == NULL) {
        return no_arguments(handle);
    }
    if (arguments->final) {
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                         "arguments are appended before aclrtKernelArgsFinalize");
    }
    const size_t offset = up(arguments->bytes);
    if (arguments->count == MAX_ARGUMENTS || bytes > MAX_BYTES - offset) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "a kernel takes at most %d arguments of %d bytes in all", MAX_ARGUMENTS,
                         MAX_BYTES);
    }
    memcpy(arguments->block + offset, data, bytes);
    arguments->offsets[arguments->count] = offset;
    arguments->sizes[arguments->count++] = bytes;
    arguments->bytes = offset + bytes;
    *given = (aclrtParamHandle)(uintptr_t)arguments->count;
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle handle, aclrtParamHandle which, void *param,
                                   size_t bytes)
{
    struct arguments *arguments = find(handle);
    const size_t index = (size_t)(uintptr_t)which - 1;
    if (arguments == NULL) {
        return no_arguments(handle);
    }
    if (index >= arguments->count || bytes != arguments->sizes[index]) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "%p is no argument of %zu bytes of this kernel", which, bytes);
    }
    memcpy(arguments->block + arguments->offsets[index], param, bytes);
    arguments->final = false;
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle handle)
{
    struct arguments *arguments = find(handle);
    if (arguments == NULL) {
        return no_arguments(handle);
    }
    arguments->final = true;
    return ACL_SUCCESS;
}

static aclError launch(const void *function, uint32_t blocks, aclrtStream stream,
                       const void *arguments, size_t bytes, size_t slot)
{
    aclError status;
    const struct pyaclnn_kernel *kernel = find_kernel(function, &status);
    if (kernel == NULL) {
        return status;
    }
    return blocks == 0 ? mock_fail(ACL_ERROR_INVALID_PARAM, "a kernel runs on 1 block or more")
                       : mock_host_kernel_launch(kernel, blocks, stream, arguments, bytes, slot);
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle function, uint32_t blocks, aclrtStream stream,
                                     aclrtLaunchKernelCfg *config, aclrtArgsHandle handle,
                                     void *reserve)
{
    const struct arguments *arguments = find(handle);
    (void)config;
    if (reserve != NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "reserve must be NULL");
    }
    if (arguments == NULL) {
        return no_arguments(handle);
    }
    if (!arguments->final || arguments->function != function) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "the arguments are those of another function, or not final");
    }
    return launch(function, blocks, stream, arguments->block, arguments->bytes, SLOT);
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle function, uint32_t blocks,
                                       aclrtStream stream, aclrtLaunchKernelCfg *config,
                                       void *arguments, size_t bytes,
                                       aclrtPlaceHolderInfo *placeholders, size_t count)
{
    (void)config;
    (void)placeholders;
    return count > 0 ? mock_fail(MOCK_NOT_IMPLEMENTED,
                                 "a kernel compiled for the host takes no placeholders")
                     : launch(function, blocks, stream, arguments, bytes, 1);
}
