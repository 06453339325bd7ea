/* SPDX-License-Identifier: Apache-2.0 */
/* Events of other processes. */
#include "event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "error_message.h"
#include "share.h"
#include "stream_wait.h"

/* By which number, and what the event was made by and with. */
static const char TEXT[] = "pyaclnn-event-%016" PRIx64 "-%u-%02x.";

static aclError check(const struct event *event, aclrtEvent handle)
{
    if ((event->flags & ACL_EVENT_IPC) == 0) {
        mock_event_report(MOCK_EVENT_MADE_FOR_SOMETHING_ELSE, handle,
                          "it was made without ACL_EVENT_IPC");
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "the event was made without ACL_EVENT_IPC: no other process may have it");
    }
    if (event->imported != NULL) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "the event is another process's; pass on the handle that it came from");
    }
    if (event->captured != NULL || event->reset_requested > 0) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "the event was reset, or recorded in a capture; share another one");
    }
    return ACL_SUCCESS;
}

aclError aclrtIpcGetEventHandle(aclrtEvent handle, aclrtIpcEventHandle *result)
{
    aclError status;
    struct event *event = mock_event_find(handle, &status);
    if (event == NULL) {
        return status;
    }
    status = check(event, handle);
    if (status == ACL_SUCCESS && event->number == 0 && !mock_event_share(event)) {
        status = mock_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "too much is shared already");
    }
    if (status == ACL_SUCCESS) {
        memset(result, 0, sizeof *result);
        snprintf(result->reserved, sizeof result->reserved, TEXT, event->number,
                 (unsigned)event->constructor, event->flags);
        mock_stream_flush(event->stream, event->position); /* the event may be gone afterwards */
    }
    return status;
}

static aclError open_handle(const aclrtIpcEventHandle *given, aclrtEvent *handle)
{
    aclrtIpcEventHandle same = {{0}};
    char text[sizeof given->reserved + 1] = "";
    uint64_t number = 0;
    unsigned constructor = 0, flags = 0;
    memcpy(text, given->reserved, sizeof given->reserved);
    sscanf(text, "pyaclnn-event-%16" SCNx64 "-%u-%x", &number, &constructor, &flags);
    snprintf(same.reserved, sizeof same.reserved, TEXT, number, constructor, flags);
    if (number == 0 || constructor > EX_WITH_FLAG || strcmp(text, same.reserved) != 0) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "the handle is none that aclrtIpcGetEventHandle has given");
    }
    aclError status;
    struct mock_signal *signal = mock_import_signal(number, &status);
    if (signal == NULL) {
        return status;
    }
    struct event *event = mock_event_new(handle, (enum constructor)constructor, flags, &status);
    if (event == NULL) {
        mock_import_signal_end(number, signal);
        return status;
    }
    event->number = number;
    event->imported = signal;
    return ACL_SUCCESS;
}

aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent *event)
{
    return open_handle(&handle, event);
}
