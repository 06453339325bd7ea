/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host functions called from a stream, and what is known about a task that failed. Provided by
 * libascendcl.so (newer releases: libacl_rt.so).
 *
 * Left out, because the prototype of its callback is not described here:
 * aclrtBinarySetExceptionCallback.
 */
#pragma once

#include <stdint.h>
#include "acl/acl_base.h"

ACL_STUBS_C_BEGIN

typedef enum aclrtCallbackBlockType {
    ACL_CALLBACK_NO_BLOCK = 0,
    ACL_CALLBACK_BLOCK = 1,
} aclrtCallbackBlockType;

typedef struct rtExceptionInfo aclrtExceptionInfo;

typedef void (*aclrtCallback)(void *userData);
typedef void (*aclrtExceptionInfoCallback)(aclrtExceptionInfo *exceptionInfo);

/* threadId is the pthread_self() of the thread that will poll aclrtProcessReport. */
ACL_FUNC_VISIBILITY aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream);
/* fn runs inside aclrtProcessReport; ACL_CALLBACK_BLOCK holds the stream until it returns. 107015
 * on a stream without a subscriber. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchCallback(aclrtCallback fn, void *userData,
    aclrtCallbackBlockType blockType, aclrtStream stream);
/* timeout in milliseconds, -1 waits for ever, 0 is refused (100000); 507012 when it runs out. */
ACL_FUNC_VISIBILITY aclError aclrtProcessReport(int32_t timeout);

ACL_FUNC_VISIBILITY aclError aclrtSubscribeHostFunc(uint64_t hostFuncThreadId,
    aclrtStream exeStream);
ACL_FUNC_VISIBILITY aclError aclrtUnSubscribeHostFunc(uint64_t hostFuncThreadId,
    aclrtStream exeStream);
ACL_FUNC_VISIBILITY aclError aclrtProcessHostFunc(int32_t timeout);

/* NULL takes the callback back; deprecated in 9.1. */
ACL_FUNC_VISIBILITY aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback);

/* NULL gives 0xFFFFFFFF. */
ACL_FUNC_VISIBILITY uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo *info);
ACL_FUNC_VISIBILITY uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo *info);
ACL_FUNC_VISIBILITY uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo *info);
ACL_FUNC_VISIBILITY uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo *info);
ACL_FUNC_VISIBILITY uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo *info);

#if ACL_STUBS_CANN >= 901
typedef void (*aclrtHostFunc)(void *args);

/* Needs no subscription: the runtime has a thread for it. Always holds the stream. */
ACL_FUNC_VISIBILITY aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void *args);

/* Several callbacks live side by side. */
ACL_FUNC_VISIBILITY aclError aclrtExceptionInfoCallbackRegister(
    aclrtExceptionInfoCallback callback);
ACL_FUNC_VISIBILITY aclError aclrtExceptionInfoCallbackUnregister(
    aclrtExceptionInfoCallback callback);

/* devArgsPtr receives a device address, devArgsLen bytes. */
ACL_FUNC_VISIBILITY aclError aclrtGetArgsFromExceptionInfo(const aclrtExceptionInfo *info,
    void **devArgsPtr, uint32_t *devArgsLen);
ACL_FUNC_VISIBILITY aclError aclrtGetFuncHandleFromExceptionInfo(const aclrtExceptionInfo *info,
    aclrtFuncHandle *func);
#endif

ACL_STUBS_C_END
