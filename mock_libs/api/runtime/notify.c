/* SPDX-License-Identifier: Apache-2.0 */
/* Notifies as programs see them. */
#include "notify.h"

#include <stdlib.h>

#include "entry.h"
#include "lock.h"
#include "message.h"
#include "stream.h"
#include "violation.h"

static uint32_t next_id;

static aclError create(aclrtNotify *handle, uint64_t flag)
{
    if (handle == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "the pointer for the new notify is NULL");
    }
    if (flag > ACL_NOTIFY_DEVICE_USE_ONLY) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "notify flag 0x%llx; it must be 0 or 1",
                         (unsigned long long)flag);
    }
    aclError status;
    const struct context *context = mock_usable_context(&status);
    if (context == NULL) {
        return status;
    }
    struct notify *notify = calloc(1, sizeof *notify);
    void *made = notify == NULL ? NULL : mock_handle_new(MOCK_NOTIFY, notify);
    if (made == NULL) {
        free(notify);
        return mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no host memory for a notify");
    }
    notify->context_handle = context->handle;
    notify->id = next_id++;
    *handle = made;
    return ACL_SUCCESS;
}

aclError aclrtCreateNotify(aclrtNotify *notify, uint64_t flag)
{
    MOCK_GUARDED(create(notify, flag));
}

static aclError destroy(aclrtNotify handle)
{
    aclError status;
    const struct notify *notify = mock_notify_find(handle, true, &status);
    if (notify == NULL) {
        return status;
    }
    if (notify->waits > 0) {
        mock_violate_object(MOCK_NOTIFY_DESTROYED_IN_USE, MOCK_NOTIFY, handle,
                            "%llu wait(s) for it are queued", (unsigned long long)notify->waits);
    }
    free(mock_handle_close(handle, MOCK_NOTIFY));
    mock_progress();
    return ACL_SUCCESS;
}

aclError aclrtDestroyNotify(aclrtNotify notify)
{
    MOCK_GUARDED(destroy(notify));
}

static aclError id_of(aclrtNotify handle, uint32_t *id)
{
    aclError status;
    const struct notify *notify = mock_notify_find(handle, false, &status);
    if (notify != NULL && id == NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "notifyId is NULL");
    }
    if (notify != NULL) {
        *id = notify->id;
    }
    return status;
}

aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t *notifyId)
{
    MOCK_GUARDED(id_of(notify, notifyId));
}

static aclError queue(aclrtNotify handle, aclrtStream stream_handle, enum task_kind kind,
                      uint32_t seconds)
{
    aclError status;
    struct notify *notify = mock_notify_find(handle, false, &status);
    struct stream *stream =
        notify == NULL ? NULL : mock_stream_find(stream_handle, true, &status);
    struct task *task = stream == NULL ? NULL : mock_stream_submit(stream, kind, &status);
    if (task != NULL) {
        task->as.notify.notify = handle;
        task->as.notify.seconds = seconds;
        notify->waits += kind == TASK_NOTIFY_WAIT ? 1 : 0;
    }
    return status;
}

aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream)
{
    MOCK_GUARDED(queue(notify, stream, TASK_NOTIFY_RECORD, 0));
}

aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout)
{
    MOCK_GUARDED(queue(notify, stream, TASK_NOTIFY_WAIT, timeout));
}

static aclError reset(aclrtNotify *notifies, size_t num)
{
    aclError status = ACL_SUCCESS;
    if (notifies == NULL || num == 0) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "notifies is NULL, or num is 0");
    }
    for (size_t i = 0; i < num && status == ACL_SUCCESS; i++) {
        mock_notify_find(notifies[i], false, &status);
    }
    for (size_t i = 0; i < num && status == ACL_SUCCESS; i++) {
        mock_notify_find(notifies[i], false, &status)->set = false;
    }
    return status;
}

aclError aclrtNotifyBatchReset(aclrtNotify *notifies, size_t num)
{
    MOCK_GUARDED(reset(notifies, num));
}
