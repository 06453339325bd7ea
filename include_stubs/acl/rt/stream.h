/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creation, destruction and synchronization of streams. NULL is the default stream of the current
 * context. Provided by libascendcl.so (newer releases: libacl_rt.so).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "acl/acl_base.h"

ACL_STUBS_C_BEGIN

/* Flags of a new stream. */
#define ACL_STREAM_FAST_LAUNCH 0x00000001
#define ACL_STREAM_FAST_SYNC   0x00000002
#if ACL_STUBS_CANN >= 901
#define ACL_STREAM_PERSISTENT      0x00000004
#define ACL_STREAM_HUGE            0x00000008
#define ACL_STREAM_CPU_SCHEDULE    0x00000010
#define ACL_STREAM_DEVICE_USE_ONLY 0x00000020
#endif

/* Behaviour of a stream after a failed task. */
#define ACL_CONTINUE_ON_FAILURE 0x00000000
#define ACL_STOP_ON_FAILURE     0x00000001

typedef enum aclrtStreamStatus {
    ACL_STREAM_STATUS_COMPLETE = 0,
    ACL_STREAM_STATUS_NOT_READY = 1,
    ACL_STREAM_STATUS_RESERVED = 0xffff,
} aclrtStreamStatus;

typedef enum aclrtStreamConfigAttr {
    ACL_RT_STREAM_WORK_ADDR_PTR = 0,
    ACL_RT_STREAM_WORK_SIZE = 1,
    ACL_RT_STREAM_FLAG = 2,
    ACL_RT_STREAM_PRIORITY = 3,
} aclrtStreamConfigAttr;

/* Obtained from aclrtCreateStreamConfigHandle and given back with its counterpart. */
typedef struct aclrtStreamConfigHandle {
    void *workptr;
    size_t workSize;
    size_t flag;
    uint32_t priority;
} aclrtStreamConfigHandle;

ACL_FUNC_VISIBILITY aclError aclrtCreateStream(aclrtStream *stream);
/* priority is reserved in 8.1 (pass 0); flag is an OR of the stream flags. */
ACL_FUNC_VISIBILITY aclError aclrtCreateStreamWithConfig(aclrtStream *stream, uint32_t priority,
    uint32_t flag);
ACL_FUNC_VISIBILITY aclrtStreamConfigHandle *aclrtCreateStreamConfigHandle(void);
ACL_FUNC_VISIBILITY aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle *handle);
/* valueSize: bytes behind attrValue. */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle *handle,
    aclrtStreamConfigAttr attr, const void *attrValue, size_t valueSize);
ACL_FUNC_VISIBILITY aclError aclrtCreateStreamV2(aclrtStream *stream,
    const aclrtStreamConfigHandle *handle);

/* Waits for queued work first; only valid in the context the stream belongs to. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStream(aclrtStream stream);
/* Does not wait for queued work. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyStreamForce(aclrtStream stream);

/* Returns the error of the stream since the last query. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStream(aclrtStream stream);
/* timeout in milliseconds, -1 waits for ever, 0 is refused (107000); 507046 when it runs out. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout);
/* Returns 0 for a busy stream too; the answer is in status. */
ACL_FUNC_VISIBILITY aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus *status);

ACL_FUNC_VISIBILITY aclError aclrtStreamAbort(aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtStreamGetId(aclrtStream stream, int32_t *streamId);
/* ACL_CONTINUE_ON_FAILURE (the default) or ACL_STOP_ON_FAILURE. */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode);

ACL_STUBS_C_END
