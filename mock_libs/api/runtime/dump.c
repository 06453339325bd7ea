/* SPDX-License-Identifier: Apache-2.0 */
/* Dumps of models and operators, and records of profiling in streams: they are accepted and
 * checked, and nothing is written, which a line on stderr says.
 * Source: CANN: runtime aclrt_impl/toolchain/dump.cpp, dfx.cpp. */
#include <stdio.h>
#include <unistd.h>

#include "error_message.h"
#include "stream.h"

static bool prepared;

aclError aclmdlInitDump(void)
{
    if (prepared) {
        return mock_fail(ACL_ERROR_DUMP_ALREADY_RUN, "aclmdlInitDump was called before");
    }
    fputs("simulated NPU: dumps of models write nothing\n", stderr);
    prepared = true;
    return ACL_SUCCESS;
}

aclError aclmdlSetDump(const char *dumpCfgPath)
{
    if (!prepared) {
        return mock_fail(ACL_ERROR_DUMP_NOT_RUN, "call aclmdlInitDump first");
    }
    return access(dumpCfgPath, R_OK) == 0
               ? ACL_SUCCESS
               : mock_fail(ACL_ERROR_INVALID_FILE, "cannot read '%.300s'", dumpCfgPath);
}

aclError aclmdlFinalizeDump(void)
{
    if (!prepared) {
        return mock_fail(ACL_ERROR_DUMP_NOT_RUN, "call aclmdlInitDump first");
    }
    prepared = false;
    return ACL_SUCCESS;
}

aclError aclrtProfTrace(void *userdata, int32_t length, aclrtStream handle)
{
    enum { MOST = 18 };
    aclError status;
    (void)userdata;
    if (length <= 0 || length > MOST) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "length is %d; it must be 1 to %d", length,
                         MOST);
    }
    mock_stream_find(handle, true, &status);
    return status;
}

static aclError describe_last_task(const void *text, size_t bytes)
{
    aclError status = ACL_SUCCESS;
    if (text == NULL || bytes == 0) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "the description is empty");
    }
    mock_usable_context(&status);
    return status;
}

aclError aclrtCacheLastTaskOpInfo(const void *const infoPtr, const size_t infoSize)
{
    return describe_last_task(infoPtr, infoSize);
}

aclError aclrtCacheLastTaskExtendInfo(const char *const extendInfoPtr, const size_t infoSize)
{
    return describe_last_task(extendInfoPtr, infoSize);
}

aclError aclrtGetThreadLastTaskId(uint32_t *taskId)
{
    const uint64_t position = mock_stream_last_position();
    if (position == 0) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "this thread has queued no task");
    }
    *taskId = (uint32_t)position;
    return ACL_SUCCESS;
}
