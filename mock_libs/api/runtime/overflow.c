/* SPDX-License-Identifier: Apache-2.0 */
/* Overflow of floating-point numbers in saturation mode. Kernels of the simulated NPU compute with
 * infinities and set no flag, so that the status is always 0. Source: CANN: runtime api_impl.cc. */
#include "address_query.h"
#include "error_message.h"
#include "hazard.h"
#include "stream.h"

enum { STATUS_BYTES = 64 };

/* Queue writing the status, or, of no address, only check the stream. */
static aclError queue(void *address, uint64_t size, aclrtStream handle)
{
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    if (stream == NULL) {
        return status;
    }
    if (stream->lane != NULL) {
        return mock_fail(ACL_ERROR_RT_STREAM_CAPTURED, "stream %d is captured", stream->id);
    }
    if (address == NULL) {
        return ACL_SUCCESS;
    }
    if (size != STATUS_BYTES || !mock_is_on_device("outputAddr", address, STATUS_BYTES)) {
        return mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                         "outputAddr %p and size %llu must be %d bytes of device memory", address,
                         (unsigned long long)size, STATUS_BYTES);
    }
    struct task *task = mock_stream_submit(stream, TASK_FILL, &status);
    if (task != NULL) {
        task->as.fill.on_device = true;
        task->as.fill.destination = address;
        task->as.fill.bytes = STATUS_BYTES;
        mock_hazard_queued(stream, task);
    }
    return status;
}

aclError aclrtGetOverflowStatus(void *outputAddr, size_t outputSize, aclrtStream stream)
{
    return queue(outputAddr, outputSize, stream);
}

aclError aclrtGetFloatOverflowStatus(void *outputAddr, uint64_t outputSize, aclrtStream stream)
{
    return queue(outputAddr, outputSize, stream);
}

aclError aclrtNpuGetFloatOverFlowStatus(void *outputAddr, uint64_t outputSize, uint32_t checkMode,
                                        aclrtStream stream)
{
    (void)checkMode;
    return queue(outputAddr, outputSize, stream);
}

aclError aclrtResetOverflowStatus(aclrtStream stream)
{
    return queue(NULL, 0, stream);
}

aclError aclrtResetFloatOverflowStatus(aclrtStream stream)
{
    return queue(NULL, 0, stream);
}

aclError aclrtNpuClearFloatOverFlowStatus(uint32_t checkMode, aclrtStream stream)
{
    (void)checkMode;
    return queue(NULL, 0, stream);
}
