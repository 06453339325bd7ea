/* SPDX-License-Identifier: Apache-2.0 */
/* Notifies: look-up, and execution of their tasks. */
#include "notify.h"

#include <stdatomic.h>

#include "error_message.h"
#include "share.h"
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

bool mock_notify_exchange(struct notify *notify, bool set)
{
    struct mock_signal *signal = notify->imported;
    if (signal == NULL && notify->number != 0) {
        signal = mock_shared_signal(notify->number); /* gone with its device */
    }
    return atomic_exchange(signal == NULL ? &notify->set : &signal->set, set) != 0;
}

void mock_notify_recorded(const void *handle)
{
    struct notify *notify = mock_handle_get(handle, MOCK_NOTIFY);
    if (notify != NULL) {
        mock_notify_exchange(notify, true);
    }
}

void mock_notify_release(const struct task *task)
{
    struct notify *notify = mock_handle_get(task->as.notify.notify, MOCK_NOTIFY);
    if (notify != NULL) {
        notify->waits--;
    }
}
