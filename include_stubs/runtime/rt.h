/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime below AscendCL: registering and launching kernels by the address of a stub. Provided
 * by libruntime.so. It declares only the functions that current programs still link.
 */
#pragma once

#include <stdint.h>
#include "acl/acl_stubs.h"

ACL_STUBS_C_BEGIN

typedef int32_t rtError_t;
typedef void *rtStream_t;
/* Opaque here: their layouts are not described by these declarations. */
typedef struct tagRtDevBinary rtDevBinary_t;
typedef struct tagRtSmCtrl rtSmDesc_t;

ACL_FUNC_VISIBILITY rtError_t rtDevBinaryRegister(const rtDevBinary_t *bin, void **handle);
ACL_FUNC_VISIBILITY rtError_t rtFunctionRegister(void *binHandle, const void *stubFunc,
    const char *stubName, const void *devFunc, uint32_t funcMode);
ACL_FUNC_VISIBILITY rtError_t rtKernelLaunch(const void *stubFunc, uint32_t blockDim, void *args,
    uint32_t argsSize, rtSmDesc_t *smDesc, rtStream_t stream);
ACL_FUNC_VISIBILITY rtError_t rtGetC2cCtrlAddr(uint64_t *addr, uint32_t *len);

ACL_STUBS_C_END
