/* SPDX-License-Identifier: Apache-2.0 */
/* The aclrt functions of notifies. */
#include "notify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error_message.h"
#include "lock.h"
#include "share.h"
#include "stream.h"
#include "stream_wait.h"
#include "violation.h"

static uint32_t next_id;

/* A new one in the current context, or NULL with the code in *status. */
static struct notify *make(aclrtNotify *handle, aclError *status)
{
    const struct context *context = mock_usable_context(status);
    struct notify *notify = context == NULL ? NULL : calloc(1, sizeof *notify);
    void *made = notify == NULL ? NULL : mock_handle_new(MOCK_NOTIFY, notify);
    if (made == NULL) {
        free(notify);
        *status = context == NULL ? *status
                                  : mock_fail(ACL_ERROR_RT_MEMORY_ALLOCATION,
                                              "no host memory for a notify");
        return NULL;
    }
    notify->context_handle = context->handle;
    notify->id = next_id++;
    *handle = made;
    return notify;
}

aclError aclrtCreateNotify(aclrtNotify *handle, uint64_t flag)
{
    if (flag > ACL_NOTIFY_DEVICE_USE_ONLY) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "notify flag 0x%llx; it must be 0 or 1",
                         (unsigned long long)flag);
    }
    aclError status = ACL_SUCCESS;
    make(handle, &status);
    return status;
}

aclError aclrtDestroyNotify(aclrtNotify handle)
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
    if (notify->imported != NULL) {
        mock_import_signal_end(notify->number, notify->imported);
    } else if (notify->number != 0) {
        mock_share_withdraw(notify->number);
    }
    free(mock_handle_close(handle, MOCK_NOTIFY));
    mock_signal_progress();
    return ACL_SUCCESS;
}

aclError aclrtGetNotifyId(aclrtNotify handle, uint32_t *id)
{
    aclError status;
    const struct notify *notify = mock_notify_find(handle, false, &status);
    if (notify != NULL) {
        *id = notify->id;
    }
    return status;
}

static aclError queue(aclrtNotify handle, aclrtStream stream_handle, enum task_kind kind,
                      struct mock_counting counting, uint32_t seconds)
{
    aclError status;
    struct notify *notify = mock_notify_find(handle, false, &status);
    struct stream *stream =
        notify == NULL ? NULL : mock_stream_find(stream_handle, true, &status);
    struct task *task = stream == NULL ? NULL : mock_stream_submit(stream, kind, &status);
    if (task != NULL) {
        task->as.notify.notify = handle;
        task->as.notify.seconds = seconds;
        task->as.notify.counting = counting;
        notify->waits += kind == TASK_NOTIFY_WAIT ? 1 : 0;
        if (kind == TASK_NOTIFY_RECORD && notify->number != 0 && stream->lane == NULL) {
            mock_stream_flush(stream->handle, task->position);
        }
    }
    return status;
}

aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream)
{
    return queue(notify, stream, TASK_NOTIFY_RECORD, (struct mock_counting){0}, 0);
}

aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout)
{
    return queue(notify, stream, TASK_NOTIFY_WAIT, (struct mock_counting){0}, timeout);
}

aclError aclrtNotifyBatchReset(aclrtNotify *notifies, size_t num)
{
    aclError status = ACL_SUCCESS;
    for (size_t i = 0; i < num && status == ACL_SUCCESS; i++) {
        mock_notify_find(notifies[i], false, &status);
    }
    for (size_t i = 0; i < num && status == ACL_SUCCESS; i++) {
        mock_notify_exchange(mock_notify_find(notifies[i], false, &status), false);
    }
    return status;
}

/* ---- notifies that hold a number, which streams change, and whose value they wait for ------- */

static struct notify *find_counting(aclrtCntNotify handle, aclError *status)
{
    struct notify *notify = mock_notify_find(handle, false, status);
    if (notify != NULL && !notify->counting) {
        *status = mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                            "%p is a notify of aclrtCreateNotify, which holds no number", handle);
        notify = NULL;
    }
    return notify;
}

aclError aclrtCntNotifyCreate(aclrtCntNotify *cntNotify, uint64_t flag)
{
    aclError status = aclrtCreateNotify(cntNotify, flag);
    if (status == ACL_SUCCESS) {
        mock_notify_find(*cntNotify, false, &status)->counting = true;
    }
    return status;
}

aclError aclrtCntNotifyDestroy(aclrtCntNotify cntNotify)
{
    aclError status;
    return find_counting(cntNotify, &status) == NULL ? status : aclrtDestroyNotify(cntNotify);
}

aclError aclrtCntNotifyGetId(aclrtCntNotify cntNotify, uint32_t *notifyId)
{
    aclError status;
    return find_counting(cntNotify, &status) == NULL ? status : aclrtGetNotifyId(cntNotify, notifyId);
}

static aclError queue_counting(aclrtCntNotify handle, aclrtStream stream, enum task_kind kind,
                               struct mock_counting counting, uint32_t seconds)
{
    aclError status;
    return find_counting(handle, &status) == NULL
               ? status
               : queue(handle, stream, kind, counting, seconds);
}

aclError aclrtCntNotifyRecord(aclrtCntNotify cntNotify, aclrtStream stream,
                              aclrtCntNotifyRecordInfo *info)
{
    const uint32_t mode = (uint32_t)info->mode;
    if (mode > ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE &&
        mode != ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "mode is %u; it must be 0, 1, 2 or 4", mode);
    }
    return queue_counting(cntNotify, stream, TASK_NOTIFY_RECORD,
                               (struct mock_counting){mode, info->value, false}, 0);
}

aclError aclrtCntNotifyWaitWithTimeout(aclrtCntNotify cntNotify, aclrtStream stream,
                                       aclrtCntNotifyWaitInfo *info)
{
    const uint32_t mode = (uint32_t)info->mode;
    if (mode > ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "mode is %u; it must be 0 to 4", mode);
    }
    return queue_counting(cntNotify, stream, TASK_NOTIFY_WAIT,
                               (struct mock_counting){mode, info->value, info->isClear != 0}, info->timeout);
}

aclError aclrtCntNotifyReset(aclrtCntNotify cntNotify, aclrtStream stream)
{
    return queue_counting(cntNotify, stream, TASK_NOTIFY_RECORD,
                               (struct mock_counting){ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, 0, false}, 0);
}

/* ---- other processes ------------------------------------------------------------------------- */

enum { KEY_BYTES = 65 }; /* as for memory: aclrtIpcMemGetExportKey */

static const char KEY[] = "pyaclnn-notify-%016" PRIx64;

aclError aclrtNotifyGetExportKey(aclrtNotify handle, char *key, size_t length, uint64_t flags)
{
    aclError status;
    struct notify *notify = mock_notify_find(handle, false, &status);
    if (notify == NULL) {
        return status;
    }
    if (length < KEY_BYTES || (flags & ~(uint64_t)ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "len %zu must be at least %d, flags 0x%" PRIx64 " must be 0 or 2", length,
                         KEY_BYTES, flags);
    }
    const struct context *context = mock_handle_get(notify->context_handle, MOCK_CONTEXT);
    if (notify->number != 0 || context == NULL) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "the notify was exported before, is another process's, or its context "
                         "was destroyed");
    }
    const bool was_set = mock_notify_exchange(notify, false);
    notify->number = mock_share_signal(context->device, flags != 0);
    mock_notify_exchange(notify, was_set);
    if (notify->number == 0) {
        return mock_fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "too much is exported already");
    }
    snprintf(key, length, KEY, notify->number);
    return ACL_SUCCESS;
}

aclError aclrtNotifySetImportPid(aclrtNotify handle, int32_t *processes, size_t count)
{
    aclError status;
    const struct notify *notify = mock_notify_find(handle, false, &status);
    if (notify == NULL) {
        return status;
    }
    return mock_share_allow(notify->number, processes, count)
               ? ACL_SUCCESS
               : mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "this process has not exported the notify, or to too many processes; "
                           "call aclrtNotifyGetExportKey first");
}

aclError aclrtNotifyImportByKey(aclrtNotify *handle, const char *key, uint64_t flags)
{
    char same[KEY_BYTES];
    uint64_t number = 0;
    if ((flags & ~(uint64_t)ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS) != 0) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "flags 0x%" PRIx64 " are neither 0 nor 2", flags);
    }
    sscanf(key, "pyaclnn-notify-%16" SCNx64, &number);
    snprintf(same, sizeof same, KEY, number);
    if (number == 0 || strcmp(key, same) != 0) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "key is none that aclrtNotifyGetExportKey has given");
    }
    aclError status = ACL_SUCCESS;
    struct notify *notify = make(handle, &status);
    if (notify == NULL) {
        return status;
    }
    notify->imported = mock_import_signal(number, &status);
    notify->number = number;
    if (notify->imported == NULL) {
        free(mock_handle_close(*handle, MOCK_NOTIFY));
        *handle = NULL;
    }
    return status;
}
