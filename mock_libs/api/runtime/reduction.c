/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that reduce into their destination. */
#include "reduction.h"

#include <inttypes.h>

#include "address_query.h"
#include "error_message.h"
#include "hazard.h"

/* Numbers to bring together, of some bytes. */
struct reduction {
    void *destination;
    const void *source;
    uint64_t bytes;
    aclrtReduceKind kind;
    aclDataType type;
};

static aclError check_reduction(const struct reduction *of)
{
    if ((int)of->kind < ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM ||
        of->kind > ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "kind %d is none of aclrtReduceKind",
                         (int)of->kind);
    }
    const uint64_t size = mock_reduce_size(of->type);
    if (size == 0 || of->kind == ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL) {
        return mock_fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                         "kind %d of data type %d is not simulated: sums, maxima and minima of "
                         "int8, int16, int32, float16, bfloat16 and float are",
                         (int)of->kind, (int)of->type);
    }
    return of->bytes % size == 0
               ? ACL_SUCCESS
               : mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "count %" PRIu64 " is in bytes, and must be a multiple of %" PRIu64,
                           of->bytes, size);
}

static aclError check_memory(const char *name, const void *address, uint64_t bytes)
{
    return mock_is_on_device(name, address, bytes)
               ? ACL_SUCCESS
               : mock_fail(ACL_ERROR_RT_PARAM_INVALID,
                           "%s %p is not %" PRIu64 " bytes of live device memory", name, address,
                           bytes);
}

static aclError reduce(const struct reduction *of, aclrtStream handle, const void *reserve)
{
    if (reserve != NULL) {
        return mock_fail(ACL_ERROR_INVALID_PARAM, "reserve must be NULL");
    }
    aclError status = check_reduction(of);
    struct stream *stream =
        status != ACL_SUCCESS ? NULL : mock_stream_find(handle, true, &status);
    if (stream == NULL || of->bytes == 0) {
        return status;
    }
    status = check_memory("dst", of->destination, of->bytes);
    status = status != ACL_SUCCESS ? status : check_memory("src", of->source, of->bytes);
    struct task *task =
        status != ACL_SUCCESS ? NULL : mock_stream_submit(stream, TASK_COPY, &status);
    if (task != NULL) {
        task->as.copy.copy = (struct copy){of->destination, of->source, of->bytes,
                                           1,               of->bytes,  of->bytes};
        task->as.copy.to_device = task->as.copy.from_device = true;
        task->as.copy.reduction = (int)of->kind;
        task->as.copy.type = of->type;
        mock_hazard_queued(stream, task);
    }
    return status;
}

aclError aclrtReduceAsync(void *dst, const void *src, uint64_t count, aclrtReduceKind kind,
                          aclDataType type, aclrtStream stream, void *reserve)
{
    const struct reduction of = {dst, src, count, kind, type};
    return reduce(&of, stream, reserve);
}
