/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: marks in a stream that hosts and other streams can wait for and measure with. Provided by
 * libascendcl.so (newer releases: libacl_rt.so).
 */
#pragma once

#include <stdint.h>
#include "acl/acl_base.h"

ACL_STUBS_C_BEGIN

/* Flags of a new event. */
#define ACL_EVENT_SYNC                    0x00000001
#define ACL_EVENT_CAPTURE_STREAM_PROGRESS 0x00000002
#define ACL_EVENT_TIME_LINE               0x00000008
#define ACL_EVENT_EXTERNAL                0x00000020
#if ACL_STUBS_CANN >= 901
#define ACL_EVENT_DEVICE_USE_ONLY 0x00000010
#define ACL_EVENT_IPC             0x00000040

/* Flags of recording and waiting. */
#define ACL_EVENT_RECORD_DEFAULT  0x0
#define ACL_EVENT_RECORD_EXTERNAL 0x01
#define ACL_EVENT_WAIT_DEFAULT    0x0
#define ACL_EVENT_WAIT_EXTERNAL   0x01

#define ACL_IPC_EVENT_HANDLE_SIZE 64
#endif

typedef enum aclrtEventRecordedStatus {
    ACL_EVENT_RECORDED_STATUS_NOT_READY = 0,
    ACL_EVENT_RECORDED_STATUS_COMPLETE = 1,
} aclrtEventRecordedStatus;

/* Results of the deprecated aclrtQueryEvent: inverted, 0 means complete here. */
typedef enum aclrtEventStatus {
    ACL_EVENT_STATUS_COMPLETE = 0,
    ACL_EVENT_STATUS_NOT_READY = 1,
    ACL_EVENT_STATUS_RESERVED = 2,
} aclrtEventStatus;

typedef enum aclrtEventWaitStatus {
    ACL_EVENT_WAIT_STATUS_COMPLETE = 0,
    ACL_EVENT_WAIT_STATUS_NOT_READY = 1,
    ACL_EVENT_WAIT_STATUS_RESERVED = 0xffff,
} aclrtEventWaitStatus;

/* Another stream may not wait for it before it was recorded (107000). */
ACL_FUNC_VISIBILITY aclError aclrtCreateEvent(aclrtEvent *event);
/* Without ACL_EVENT_SYNC it is no good for aclrtStreamWaitEvent and aclrtResetEvent. */
ACL_FUNC_VISIBILITY aclError aclrtCreateEventWithFlag(aclrtEvent *event, uint32_t flag);
/* Waiting for it before it was recorded succeeds at once. */
ACL_FUNC_VISIBILITY aclError aclrtCreateEventExWithFlag(aclrtEvent *event, uint32_t flag);
/* Allowed before the event has completed. */
ACL_FUNC_VISIBILITY aclError aclrtDestroyEvent(aclrtEvent event);

ACL_FUNC_VISIBILITY aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream);
/* Only has a meaning for ACL_EVENT_SYNC events. */
ACL_FUNC_VISIBILITY aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream);
/* Makes the stream wait, not the host. */
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event);
/* Returns at once for an event that was never recorded. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEvent(aclrtEvent event);
/* Milliseconds; 507047 when they run out. */
ACL_FUNC_VISIBILITY aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout);

/* Deprecated; see aclrtEventStatus for its turned values. */
ACL_FUNC_VISIBILITY aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus *status);
ACL_FUNC_VISIBILITY aclError aclrtQueryEventStatus(aclrtEvent event,
    aclrtEventRecordedStatus *status);
ACL_FUNC_VISIBILITY aclError aclrtQueryEventWaitStatus(aclrtEvent event,
    aclrtEventWaitStatus *status);

/* Milliseconds; 507000 unrecorded, 107006 not complete, 107007 in the wrong order. */
ACL_FUNC_VISIBILITY aclError aclrtEventElapsedTime(float *ms, aclrtEvent startEvent,
    aclrtEvent endEvent);
ACL_FUNC_VISIBILITY aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t *timestamp);

#if ACL_STUBS_CANN >= 901
typedef struct aclrtIpcEventHandle {
    char reserved[ACL_IPC_EVENT_HANDLE_SIZE];
} aclrtIpcEventHandle;

ACL_FUNC_VISIBILITY aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream,
    uint32_t flag);
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event,
    uint32_t timeout, uint32_t flag);
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event,
    int32_t timeout);

ACL_FUNC_VISIBILITY aclError aclrtGetEventId(aclrtEvent event, uint32_t *eventId);
ACL_FUNC_VISIBILITY aclError aclrtGetEventAvailNum(uint32_t *eventCount);

ACL_FUNC_VISIBILITY aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle *handle);
ACL_FUNC_VISIBILITY aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent *event);
#endif

ACL_STUBS_C_END
