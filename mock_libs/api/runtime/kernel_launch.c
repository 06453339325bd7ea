/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of kernels that were compiled for the host, and their launch.
 * Source: CANN: runtime aclrt_impl/kernel.cpp, api_impl.cc. */
#include <string.h>

#include "address_query.h"
#include "address_space.h"
#include "error_message.h"
#include "host_kernel.h"

enum { MAX_ARGUMENTS = 128, MAX_BYTES = 64 << 10, SLOT = 8 };

/* An argument in the block. */
struct argument {
    size_t offset, bytes;
    size_t data;    /* of a placeholder: where the bytes begin that it points to, or 0 */
    bool placeholder;
};

/* Arguments that are put together. */
struct arguments {
    const struct arguments *self; /* so that memory of the program is known to be a handle */
    const void *function;
    uint8_t *block;
    size_t capacity, bytes, count;
    bool placed, final; /* no argument is appended any more */
    struct argument list[MAX_ARGUMENTS];
};

/* Those of a thread; the next ones take their place. */
static _Thread_local struct arguments own;
static _Thread_local _Alignas(16) uint8_t own_block[MAX_BYTES];

/* Return whether memory of the program can hold arguments that are put together. */
static bool is_room(const void *handle)
{
    return (uintptr_t)handle % _Alignof(struct arguments) == 0 && mock_device_of(handle) == NULL &&
           mock_is_live(handle, sizeof(struct arguments), true);
}

static struct arguments *find(const void *handle)
{
    struct arguments *arguments = (struct arguments *)(uintptr_t)handle;
    if (arguments == &own || (is_room(handle) && arguments->self == arguments)) {
        return arguments;
    }
    mock_fail(ACL_ERROR_RT_INVALID_HANDLE,
              "%p is no handle of this thread's arguments, which aclrtKernelArgsInit gives",
              handle);
    return NULL;
}

static size_t up(size_t bytes)
{
    return (bytes + SLOT - 1) / SLOT * SLOT;
}

static aclError begin(struct arguments *arguments, const void *function, void *block, size_t bytes)
{
    aclError status;
    if (mock_kernel_find(function, &status) != NULL) {
        *arguments = (struct arguments){
            .self = arguments, .function = function, .block = block, .capacity = bytes};
    }
    return status;
}

aclError aclrtKernelArgsInit(aclrtFuncHandle function, aclrtArgsHandle *handle)
{
    const aclError status = begin(&own, function, own_block, sizeof own_block);
    if (status == ACL_SUCCESS) {
        *handle = &own;
    }
    return status;
}

aclError aclrtKernelArgsInitByUserMem(aclrtFuncHandle function, aclrtArgsHandle handle,
                                      void *userHostMem, size_t actualArgsSize)
{
    if (!is_room(handle) || mock_device_of(userHostMem) != NULL ||
        !mock_is_live(userHostMem, actualArgsSize, true)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "argsHandle (%p) must be %zu aligned bytes and userHostMem (%p) %zu bytes "
                         "of host memory",
                         handle, sizeof own, userHostMem, actualArgsSize);
    }
    return begin(handle, function, userHostMem, actualArgsSize);
}

aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle function, size_t *memSize)
{
    aclError status;
    *memSize = mock_kernel_find(function, &status) != NULL ? sizeof own : 0;
    return status;
}

/* Each argument may begin behind a gap. */
aclError aclrtKernelArgsGetMemSize(aclrtFuncHandle function, size_t userArgsSize,
                                   size_t *actualArgsSize)
{
    aclError status;
    if (mock_kernel_find(function, &status) == NULL) {
        return status;
    }
    if (userArgsSize > MAX_BYTES) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "userArgsSize is %zu; it may be %d at most",
                         userArgsSize, MAX_BYTES);
    }
    *actualArgsSize = up(userArgsSize) + SLOT * MAX_ARGUMENTS;
    return ACL_SUCCESS;
}

/* Reserve a part of the block. false: there is no room, after mock_fail. */
static bool reserve(struct arguments *arguments, size_t bytes, size_t *offset)
{
    *offset = up(arguments->bytes);
    if (*offset > arguments->capacity || bytes > arguments->capacity - *offset) {
        mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                  "the arguments of a kernel, with what they point to, have at most %zu bytes here",
                  arguments->capacity);
        return false;
    }
    arguments->bytes = *offset + bytes;
    return true;
}

static aclError append(struct arguments *arguments, const void *data, size_t bytes,
                       aclrtParamHandle *given)
{
    size_t offset;
    if (arguments == NULL) {
        return ACL_ERROR_RT_INVALID_HANDLE;
    }
    if (arguments->final || arguments->placed) {
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                         "arguments are appended before aclrtKernelArgsFinalize and before "
                         "aclrtKernelArgsGetPlaceHolderBuffer");
    }
    if (arguments->count == MAX_ARGUMENTS) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "a kernel takes at most %d arguments",
                         MAX_ARGUMENTS);
    }
    if (!reserve(arguments, bytes, &offset)) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    memset(arguments->block + offset, 0, bytes);
    if (data != NULL) {
        memcpy(arguments->block + offset, data, bytes);
    }
    arguments->list[arguments->count++] = (struct argument){offset, bytes, 0, data == NULL};
    *given = (aclrtParamHandle)(uintptr_t)arguments->count;
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle handle, void *data, size_t bytes,
                               aclrtParamHandle *given)
{
    return append(find(handle), data, bytes, given);
}

aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle handle, aclrtParamHandle *given)
{
    return append(find(handle), NULL, sizeof(void *), given);
}

static struct argument *argument_of(struct arguments *arguments, const void *which)
{
    const size_t index = (size_t)(uintptr_t)which - 1;
    return index < arguments->count ? &arguments->list[index] : NULL;
}

aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle handle, aclrtParamHandle which,
                                             size_t dataSize, void **bufferAddr)
{
    struct arguments *arguments = find(handle);
    if (arguments == NULL) {
        return ACL_ERROR_RT_INVALID_HANDLE;
    }
    struct argument *argument = argument_of(arguments, which);
    if (argument == NULL || !argument->placeholder || argument->data != 0 || arguments->final) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "%p is no placeholder of these arguments that waits for a buffer", which);
    }
    if (!reserve(arguments, dataSize, &argument->data)) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    arguments->placed = true;
    *bufferAddr = arguments->block + argument->data;
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle handle, aclrtParamHandle which, void *param,
                                   size_t bytes)
{
    struct arguments *arguments = find(handle);
    if (arguments == NULL) {
        return ACL_ERROR_RT_INVALID_HANDLE;
    }
    const struct argument *argument = argument_of(arguments, which);
    if (argument == NULL || argument->placeholder || bytes != argument->bytes) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "%p is no argument of %zu bytes of this kernel", which, bytes);
    }
    memcpy(arguments->block + argument->offset, param, bytes);
    arguments->final = false;
    return ACL_SUCCESS;
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle handle)
{
    struct arguments *arguments = find(handle);
    if (arguments == NULL) {
        return ACL_ERROR_RT_INVALID_HANDLE;
    }
    for (size_t i = 0; i < arguments->count; i++) {
        if (arguments->list[i].placeholder && arguments->list[i].data == 0) {
            return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                             "argument %zu is a placeholder without a buffer; call "
                             "aclrtKernelArgsGetPlaceHolderBuffer",
                             i + 1);
        }
    }
    arguments->final = true;
    return ACL_SUCCESS;
}

static aclError launch(const void *function, uint32_t blocks, aclrtStream stream,
                       const struct mock_kernel_arguments *arguments)
{
    aclError status;
    const struct pyaclnn_kernel *kernel = mock_kernel_find(function, &status);
    if (kernel == NULL) {
        return status;
    }
    return blocks == 0 ? mock_fail(ACL_ERROR_RT_PARAM_INVALID, "a kernel runs on 1 block or more")
                       : mock_host_kernel_launch(kernel, blocks, stream, arguments);
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle function, uint32_t blocks, aclrtStream stream,
                                     aclrtLaunchKernelCfg *config, aclrtArgsHandle handle,
                                     void *reserved)
{
    const struct arguments *arguments = find(handle);
    aclrtPlaceHolderInfo holders[MAX_ARGUMENTS];
    size_t count = 0;
    (void)config;
    if (reserved != NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "reserve must be NULL");
    }
    if (arguments == NULL) {
        return ACL_ERROR_RT_INVALID_HANDLE;
    }
    if (!arguments->final || arguments->function != function) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "the arguments are those of another function, or not final");
    }
    for (size_t i = 0; i < arguments->count; i++) {
        const struct argument *each = &arguments->list[i];
        if (each->placeholder) {
            holders[count++] = (aclrtPlaceHolderInfo){(uint32_t)each->offset, (uint32_t)each->data};
        }
    }
    return launch(function, blocks, stream,
                  &(struct mock_kernel_arguments){
                      arguments->block, arguments->bytes, SLOT, false, holders, count});
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle function, uint32_t blocks,
                                       aclrtStream stream, aclrtLaunchKernelCfg *config,
                                       void *arguments, size_t bytes,
                                       aclrtPlaceHolderInfo *holders, size_t count)
{
    (void)config;
    for (size_t i = 0; i < count; i++) {
        if (holders == NULL || holders[i].dataOffset > bytes ||
            bytes < sizeof(void *) || holders[i].addrOffset > bytes - sizeof(void *)) {
            return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                             "placeholder %zu does not lie in the %zu bytes of arguments", i, bytes);
        }
    }
    return launch(function, blocks, stream,
                  &(struct mock_kernel_arguments){arguments, bytes, 1, false, holders, count});
}

/* Arguments in device memory are read when the kernel runs. */
static aclError launch_on_device(const void *function, uint32_t blocks, const void *arguments,
                                 size_t bytes, aclrtStream stream)
{
    if (!mock_is_on_device("argsData", arguments, bytes)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "argsData is %p; it must be %zu bytes of live device memory", arguments,
                         bytes);
    }
    return launch(function, blocks, stream,
                  &(struct mock_kernel_arguments){arguments, bytes, 1, true, NULL, 0});
}

aclError aclrtLaunchKernel(aclrtFuncHandle function, uint32_t blocks, const void *arguments,
                           size_t bytes, aclrtStream stream)
{
    return launch_on_device(function, blocks, arguments, bytes, stream);
}

aclError aclrtLaunchKernelV2(aclrtFuncHandle function, uint32_t blocks, const void *arguments,
                             size_t bytes, aclrtLaunchKernelCfg *config, aclrtStream stream)
{
    (void)config;
    return launch_on_device(function, blocks, arguments, bytes, stream);
}

aclError aclrtLaunchKernelWithArgsArray(void *function, uint32_t blocks, aclrtStream stream,
                                        aclrtLaunchKernelCfg *config, void **args)
{
    aclError status;
    aclrtArgsHandle handle;
    const struct pyaclnn_kernel *kernel = mock_kernel_find(function, &status);
    if (kernel != NULL) {
        status = aclrtKernelArgsInit(function, &handle);
    }
    for (size_t i = 0; status == ACL_SUCCESS && i < kernel->parameter_count; i++) {
        aclrtParamHandle which;
        status = args == NULL || args[i] == NULL
                     ? mock_fail(ACL_ERROR_RT_PARAM_INVALID, "args[%zu] is NULL", i)
                     : append(&own, args[i], kernel->parameters[i], &which);
    }
    own.final = true;
    return status != ACL_SUCCESS
               ? status
               : aclrtLaunchKernelWithConfig(function, blocks, stream, config, &own, NULL);
}
