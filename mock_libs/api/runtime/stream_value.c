/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-ordered writes of values in device memory, and waits for them. */
#include "stream_value.h"

#include "address_query.h"
#include "error_message.h"

static aclError queue(void *address, uint64_t value, uint32_t condition, uint32_t last,
                      aclrtStream handle, enum task_kind kind)
{
    if (condition > last) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "flag is 0x%x; it must be 0 to %u", condition,
                         last);
    }
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    if ((uintptr_t)address % sizeof value != 0) {
        return mock_fail(ACL_ERROR_RT_ADDR_UNALIGNED, "devAddr %p is no multiple of %zu", address,
                         sizeof value);
    }
    if (!mock_is_on_device("devAddr", address, sizeof value)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID, "%p is not %zu bytes of live device memory",
                         address, sizeof value);
    }
    struct task *task = mock_stream_submit(stream, kind, &status);
    if (task != NULL) {
        task->as.value.address = address;
        task->as.value.value = value;
        task->as.value.condition = condition;
    }
    return status;
}

aclError aclrtValueWrite(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream)
{
    return queue(devAddr, value, flag, 0, stream, TASK_VALUE_WRITE);
}

aclError aclrtValueWait(void *devAddr, uint64_t value, uint32_t flag, aclrtStream stream)
{
    return queue(devAddr, value, flag, ACL_STREAM_WAIT_VALUE_NOR, stream, TASK_VALUE_WAIT);
}
