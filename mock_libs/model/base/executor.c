/* SPDX-License-Identifier: Apache-2.0 */
/* aclOpExecutor. */
#include "executor.h"

#include <stdlib.h>
#include <string.h>

#include "error_message.h"
#include "objects.h"
#include "stream.h"
#include "violation.h"

static void write_address(uint8_t *message, const struct mock_tensor_slot *slot,
                          const void *address)
{
    const uint64_t value = (uint64_t)(uintptr_t)address;
    memcpy(message + slot->address_at, &value, sizeof value);
}

bool mock_write_addresses(uint8_t *message, const struct mock_tensor_slot *slots, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct tensor *tensor = mock_handle_get(slots[i].handle, MOCK_TENSOR);
        if (tensor == NULL) {
            return false;
        }
        write_address(message, &slots[i],
                      slots[i].replaced ? slots[i].replacement : tensor->address);
    }
    return true;
}

struct executor *mock_executor_new(struct mock_call *call, const struct plan *plan,
                                   bool from_cache)
{
    struct executor *executor = calloc(1, sizeof *executor);
    if (executor != NULL) {
        executor->operator_name = call->operator_name;
        executor->message = call->bytes;
        executor->length = call->length;
        executor->arguments = call->arguments;
        executor->slots = call->slots;
        executor->slot_count = call->slot_count;
        executor->plan = *plan;
        executor->from_cache = from_cache;
        executor->used = call->used;
        executor->used_count = call->used_count;
        executor->device = mock_stream_device(NULL);
        call->bytes = NULL;
        call->slots = NULL;
        call->used = NULL;
        for (size_t i = 0; i < executor->used_count; i++) {
            mock_handle_add_users(executor->used[i].handle, 1, 0);
        }
    }
    return executor;
}

void mock_executor_free(struct executor *executor)
{
    for (size_t i = 0; i < executor->used_count; i++) {
        mock_handle_add_users(executor->used[i].handle, -1, executor->repeatable ? -1 : 0);
    }
    free(executor->message);
    free(executor->slots);
    free(executor->used);
    mock_builder_free(executor->assembly);
    free(executor);
}

bool mock_is_output(const struct executor *executor, uint32_t argument)
{
    return argument < MAX_ARGUMENTS && (executor->plan.written >> argument & 1u) != 0;
}

void mock_executor_report_dead(const aclOpExecutor *handle)
{
    const struct mock_origin now = mock_origin_current();
    const bool destroying =
        now.function != NULL && strcmp(now.function, "aclDestroyAclOpExecutor") == 0;
    enum mock_mark mark;
    struct mock_history history;
    const enum mock_handle_state fate = mock_handle_fate(handle, MOCK_EXECUTOR, &mark, &history);
    if (fate != MOCK_DESTROYED || mark == MOCK_UNMARKED || mark == MOCK_MARK_REPEATABLE) {
        mock_violate_handle(handle, MOCK_EXECUTOR, destroying);
    } else if (mark == MOCK_MARK_REFUSED) {
        mock_violate(MOCK_EXECUTOR_REPEATABLE_FROM_CACHE, "aclOpExecutor", handle, &history,
                     "aclSetAclOpExecutorRepeatable refused this executor, which came from the "
                     "cache, and phase 2 consumed it");
    } else if (mark == MOCK_MARK_FAILED) {
        mock_violate(MOCK_EXECUTOR_USED_AFTER_FAILURE, "aclOpExecutor", handle, &history,
                     "phase 2 failed and consumed this executor");
    } else {
        mock_violate(destroying ? MOCK_EXECUTOR_DESTROYED_AFTER_USE : MOCK_EXECUTOR_USED_TWICE,
                     "aclOpExecutor", handle, &history, "phase 2 consumed this executor");
    }
}

struct executor *mock_executor_find(const aclOpExecutor *handle, aclnnStatus *status)
{
    struct executor *executor = mock_handle_get(handle, MOCK_EXECUTOR);
    *status = ACLNN_SUCCESS;
    if (executor == NULL) {
        mock_executor_report_dead(handle);
    }
    if (handle == NULL) {
        *status = mock_fail(ACLNN_ERR_INNER_NULLPTR, "the executor is NULL");
    } else if (executor == NULL) {
        *status = mock_fail(ACLNN_ERR_INNER,
                            "%p is no live executor: phase 2 consumed it, or it was destroyed",
                            (const void *)handle);
    }
    return executor;
}
