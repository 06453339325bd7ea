/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory work that is queued on a stream: cache maintenance, reduction, waiting for and writing of
 * values. Provided by libascendcl.so (newer releases: libacl_rt.so).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "acl/acl_base.h"

ACL_STUBS_C_BEGIN

typedef enum aclrtCmoType {
    ACL_RT_CMO_TYPE_PREFETCH = 0,
    ACL_RT_CMO_TYPE_WRITEBACK = 1,
    ACL_RT_CMO_TYPE_INVALID = 2,
    ACL_RT_CMO_TYPE_FLUSH = 3,
} aclrtCmoType;

ACL_FUNC_VISIBILITY aclError aclrtCmoAsync(void *src, size_t size, aclrtCmoType cmoType,
    aclrtStream stream);

#if ACL_STUBS_CANN >= 901
#define ACL_RT_CMO_MAX_BARRIER_NUM 6

/* Conditions of aclrtValueWait. */
#define ACL_STREAM_WAIT_VALUE_GEQ 0x00000000
#define ACL_STREAM_WAIT_VALUE_EQ  0x00000001
#define ACL_STREAM_WAIT_VALUE_AND 0x00000002
#define ACL_STREAM_WAIT_VALUE_NOR 0x00000003

typedef enum aclrtReduceKind {
    ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM = 10,
    ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX = 11,
    ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN = 12,
    ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL = 13,
} aclrtReduceKind;

/* Opaque here: its layout is not described by these declarations. */
typedef struct aclrtBarrierTaskInfo aclrtBarrierTaskInfo;

ACL_FUNC_VISIBILITY aclError aclrtCmoAsyncWithBarrier(void *src, size_t size, aclrtCmoType cmoType,
    uint32_t barrierId, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtCmoWaitBarrier(aclrtBarrierTaskInfo *taskInfo, aclrtStream stream,
    uint32_t flag);

/* A descriptor has the size that aclrtCmoGetDescSize reports. */
ACL_FUNC_VISIBILITY aclError aclrtCmoGetDescSize(size_t *size);
ACL_FUNC_VISIBILITY aclError aclrtCmoSetDesc(void *cmoDesc, void *src, size_t size);
ACL_FUNC_VISIBILITY aclError aclrtCmoAsyncWithDesc(void *cmoDesc, aclrtCmoType cmoType,
    aclrtStream stream, const void *reserve);

/* Combines src into dst. */
ACL_FUNC_VISIBILITY aclError aclrtReduceAsync(void *dst, const void *src, uint64_t count,
    aclrtReduceKind kind, aclDataType type, aclrtStream stream, void *reserve);

ACL_FUNC_VISIBILITY aclError aclrtValueWrite(void *devAddr, uint64_t value, uint32_t flag,
    aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtValueWait(void *devAddr, uint64_t value, uint32_t flag,
    aclrtStream stream);
#endif

ACL_STUBS_C_END
