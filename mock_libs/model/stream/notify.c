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

static uint32_t changed(uint32_t before, struct mock_counting by)
{
    switch (by.mode) {
    case ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE:
        return before + by.value;
    case ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE:
        return before | by.value;
    case ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE:
        return before & by.value;
    default:
        return by.value;
    }
}

static bool meets(uint32_t number, struct mock_counting wanted)
{
    switch (wanted.mode) {
    case ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE:
        return number < wanted.value;
    case ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE:
        return number == wanted.value;
    case ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE:
        return number > wanted.value;
    case ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE:
        return number >= wanted.value;
    default:
        return (number & wanted.value) == wanted.value;
    }
}

void mock_notify_recorded(const struct task *task)
{
    struct notify *notify = mock_handle_get(task->as.notify.notify, MOCK_NOTIFY);
    if (notify != NULL && notify->counting) {
        notify->set = changed(notify->set, task->as.notify.counting);
    } else if (notify != NULL) {
        mock_notify_exchange(notify, true);
    }
}

bool mock_notify_pass(struct notify *notify, const struct task *task)
{
    if (!notify->counting) {
        return mock_notify_exchange(notify, false);
    }
    const bool passes = meets(notify->set, task->as.notify.counting);
    if (passes && task->as.notify.counting.clear) {
        notify->set = 0;
    }
    return passes;
}

void mock_notify_release(const struct task *task)
{
    struct notify *notify = mock_handle_get(task->as.notify.notify, MOCK_NOTIFY);
    if (notify != NULL) {
        notify->waits--;
    }
}
