/* SPDX-License-Identifier: Apache-2.0 */
/* Notifies: finding them, and what happens when a stream comes to a task. */
#include "notify.h"

#include "message.h"
#include "violation.h"

struct notify *mock_notify_find(const void *handle, bool destroying, aclError *status)
{
    struct notify *notify = mock_handle_get(handle, MOCK_NOTIFY);
    *status = ACL_SUCCESS;
    if (handle == NULL) {
        *status = mock_fail(ACL_ERROR_INVALID_PARAM, "the notify is NULL");
    } else if (notify == NULL) {
        mock_violate_handle(handle, MOCK_NOTIFY, destroying);
        *status = mock_fail(ACL_ERROR_RT_INVALID_HANDLE,
                            "%p is no live notify: it was destroyed, or never was one", handle);
    }
    return notify;
}

void mock_notify_recorded(const void *handle)
{
    struct notify *notify = mock_handle_get(handle, MOCK_NOTIFY);
    if (notify != NULL) {
        notify->set = true;
    }
}

void mock_notify_left(const struct task *task)
{
    struct notify *notify = mock_handle_get(task->as.notify.notify, MOCK_NOTIFY);
    if (notify != NULL) {
        notify->waits--;
    }
}
