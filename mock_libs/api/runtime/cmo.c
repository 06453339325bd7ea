/* SPDX-License-Identifier: Apache-2.0 */
/* Cache maintenance in stream order: the caches of the simulated NPU are always coherent, so there
 * is nothing to do but to check the range and the stream. */
#include <string.h>

#include "address_query.h"
#include "address_space.h"
#include "error_message.h"
#include "stream.h"

struct description {
    char mark[8];
    void *address;
    uint64_t bytes;
};

static const char MARK[8] = "cmo";

static aclError maintain(const void *address, size_t size, aclrtCmoType type, aclrtStream stream)
{
    aclError status = ACL_SUCCESS;
    if (mock_device_of(address) == NULL ||
        mock_live_alias((void *)(uintptr_t)address, size) == NULL) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is not %zu bytes of live device memory",
                         address, size);
    }
    if ((int)type < ACL_RT_CMO_TYPE_PREFETCH || type > ACL_RT_CMO_TYPE_FLUSH) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "cmoType is %d", (int)type);
    }
    mock_stream_find(stream, true, &status);
    return status;
}

aclError aclrtCmoAsync(void *src, size_t size, aclrtCmoType cmoType, aclrtStream stream)
{
    return maintain(src, size, cmoType, stream);
}

aclError aclrtCmoGetDescSize(size_t *size)
{
    *size = sizeof(struct description);
    return ACL_SUCCESS;
}

aclError aclrtCmoSetDesc(void *cmoDesc, void *src, size_t size)
{
    struct description description = {"", src, size};
    memcpy(description.mark, MARK, sizeof MARK);
    if (!mock_write_memory(cmoDesc, &description, sizeof description)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "cmoDesc %p is not %zu bytes of live memory",
                         cmoDesc, sizeof description);
    }
    return ACL_SUCCESS;
}

aclError aclrtCmoAsyncWithDesc(void *cmoDesc, aclrtCmoType cmoType, aclrtStream stream,
                               const void *reserve)
{
    struct description description;
    if (reserve != NULL || !mock_read_memory(cmoDesc, &description, sizeof description) ||
        memcmp(description.mark, MARK, sizeof MARK) != 0) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "reserve must be NULL, and cmoDesc (%p) hold what aclrtCmoSetDesc wrote",
                         cmoDesc);
    }
    return maintain(description.address, description.bytes, cmoType, stream);
}

/* A barrier ends before later tasks of the stream begin, as everything does here. */
aclError aclrtCmoAsyncWithBarrier(void *src, size_t size, aclrtCmoType cmoType, uint32_t barrierId,
                                  aclrtStream stream)
{
    (void)barrierId;
    return maintain(src, size, cmoType, stream);
}

aclError aclrtCmoWaitBarrier(aclrtBarrierTaskInfo *taskInfo, aclrtStream stream, uint32_t flag)
{
    aclError status;
    if (taskInfo->barrierNum == 0 || taskInfo->barrierNum > ACL_RT_CMO_MAX_BARRIER_NUM ||
        flag != 0) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "barrierNum is %zu, which must be 1 to %d; flag is %u, which must be 0",
                         taskInfo->barrierNum, ACL_RT_CMO_MAX_BARRIER_NUM, flag);
    }
    mock_stream_find(stream, true, &status);
    return status;
}
