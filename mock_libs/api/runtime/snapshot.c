/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots of this process: its work ends, and its memory, which the devices keep, stays. */
#include <unistd.h>

#include "error_message.h"
#include "named_callback.h"
#include "stream_wait.h"

enum snapshot_state { RUNNING, LOCKED, SAVED };
static enum snapshot_state state;

aclError aclrtSnapShotCallbackRegister(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback,
                                       void *args)
{
    if ((int)stage < ACL_RT_SNAPSHOT_LOCK_PRE || stage > ACL_RT_SNAPSHOT_UNLOCK_POST) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "stage is %d; it must be 0 to 5", (int)stage);
    }
    return mock_callback_add(MOCK_ON_SNAPSHOT, (uintptr_t)stage, (mock_callback)callback, args);
}

aclError aclrtSnapShotCallbackUnregister(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback)
{
    return mock_callback_remove(MOCK_ON_SNAPSHOT, (uintptr_t)stage, (mock_callback)callback);
}

static int call_of_device(mock_callback function, void *data, const void *device)
{
    return (int)((aclrtSnapShotCallBack)function)(*(const int32_t *)device, data);
}

/* The functions of a stage are called once for each device that is set. */
static aclError announce(aclrtSnapShotStage stage)
{
    for (int32_t id = 0; mock_device_physical_id(id) >= 0; id++) {
        const struct device *device = mock_device_find(id);
        if (device->open &&
            mock_callbacks_call(MOCK_ON_SNAPSHOT, (uintptr_t)stage, call_of_device, &id) != 0) {
            return mock_fail(ACL_ERROR_RT_INTERNAL_ERROR,
                             "a callback of aclrtSnapShotCallbackRegister failed");
        }
    }
    return ACL_SUCCESS;
}

static aclError check(int pid, enum snapshot_state expected)
{
    if (pid != (int)getpid()) {
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                         "pid is %d; the simulated NPU takes snapshots of the calling process, %d",
                         pid, (int)getpid());
    }
    return state == expected
               ? ACL_SUCCESS
               : mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "the order is lock, backup, restore, unlock; the process is %s",
                           state == RUNNING  ? "not locked"
                           : state == LOCKED ? "locked"
                                             : "saved");
}

static aclError drain(void)
{
    aclError status = ACL_SUCCESS;
    for (int32_t id = 0; status == ACL_SUCCESS && mock_device_physical_id(id) >= 0; id++) {
        const struct device *device = mock_device_find(id);
        status = device->open ? mock_device_drain(device) : ACL_SUCCESS;
    }
    return status;
}

aclError aclrtSnapShotProcessLock(int pid, void *reserve)
{
    (void)reserve;
    aclError status = check(pid, RUNNING);
    status = status != ACL_SUCCESS ? status : announce(ACL_RT_SNAPSHOT_LOCK_PRE);
    status = status != ACL_SUCCESS ? status : drain();
    if (status == ACL_SUCCESS) {
        state = LOCKED;
    }
    return status;
}

/* Save the memory, or restore it: it stays, so there is nothing to do between two announcements. */
static aclError copy_memory(int pid, enum snapshot_state from, enum snapshot_state to,
                            aclrtSnapShotStage before, aclrtSnapShotStage after)
{
    aclError status = check(pid, from);
    status = status != ACL_SUCCESS ? status : announce(before);
    if (status == ACL_SUCCESS) {
        state = to;
        status = announce(after);
    }
    return status;
}

aclError aclrtSnapShotProcessBackup(int pid, aclrtSnapShotBackupArgs *args)
{
    (void)args;
    return copy_memory(pid, LOCKED, SAVED, ACL_RT_SNAPSHOT_BACKUP_PRE,
                       ACL_RT_SNAPSHOT_BACKUP_POST);
}

aclError aclrtSnapShotProcessRestore(int pid, aclrtSnapShotRestoreArgs *args)
{
    (void)args;
    return copy_memory(pid, SAVED, LOCKED, ACL_RT_SNAPSHOT_RESTORE_PRE,
                       ACL_RT_SNAPSHOT_RESTORE_POST);
}

aclError aclrtSnapShotProcessUnlock(int pid, void *reserve)
{
    (void)reserve;
    const aclError status = check(pid, LOCKED);
    if (status == ACL_SUCCESS) {
        state = RUNNING;
        return announce(ACL_RT_SNAPSHOT_UNLOCK_POST);
    }
    return status;
}
