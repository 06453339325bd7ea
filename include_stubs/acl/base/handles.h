/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles and opaque objects that travel through pointers only; nothing here can be looked into.
 */
#pragma once

#include "acl/acl_stubs.h"

typedef void *aclrtContext;
typedef void *aclrtStream;
typedef void *aclrtEvent;
typedef void *aclrtDrvMemHandle;
typedef void *aclrtAllocatorDesc;
typedef void *aclrtAllocator;
typedef void *aclrtAllocatorBlock;
typedef void *aclrtAllocatorAddr;

typedef void *aclrtBinary;
typedef void *aclrtBinHandle;
typedef void *aclrtFuncHandle;
typedef void *aclrtArgsHandle;
typedef void *aclrtParamHandle;
typedef void *aclrtTaskGrp;
typedef void *aclmdlRI;

#if ACL_STUBS_CANN >= 901
typedef void *aclrtMbuf;
typedef void *aclrtMemPool;
typedef void *aclrtNotify;
typedef void *aclrtCntNotify;
typedef void *aclrtLabel;
typedef void *aclrtLabelList;
typedef void *aclmdlRITask;
typedef void *aclmdlRICondHandle;
#endif

typedef struct aclDataBuffer aclDataBuffer;
typedef struct aclTensorDesc aclTensorDesc;
