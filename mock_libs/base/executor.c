/* SPDX-License-Identifier: Apache-2.0 */
/* aclOpExecutor: what stands between the two phases of an operator. */
#include "executor.h"

#include <stdlib.h>
#include <string.h>

#include "objects.h"

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

void mock_executor_free(struct executor *executor)
{
    for (size_t i = 0; i < executor->used_count; i++) {
        mock_handle_need(executor->used[i].handle, -1, executor->repeatable ? -1 : 0);
    }
    free(executor->message);
    free(executor->slots);
    free(executor->used);
    free(executor);
}

/* ---- phase 1 ------------------------------------------------------------------------------ */

static aclnnStatus ask_device(const struct mock_call *call, struct plan *plan)
{
    struct device *device = mock_current_device();
    const uint8_t *answer;
    size_t length;
    /* The runtime has recorded why; its own code stays the thread's last error. */
    if (device == NULL || !mock_device_request(device, MOCK_CHECK, call->bytes + PREFIX,
                                               call->length - PREFIX, &answer, &length)) {
        return ACLNN_ERR_RUNTIME_ERROR;
    }
    struct mock_reader reader = {answer, length, 0, true};
    const aclnnStatus status = (aclnnStatus)mock_read_u32(&reader);
    plan->individual = mock_read_u32(&reader) == 1;
    plan->outputs = mock_read_u32(&reader);
    plan->launches = mock_read_u32(&reader);
    plan->workspace_size = mock_read_u64(&reader);
    uint32_t text_length;
    const char *text = mock_read_string(&reader, &text_length);
    if (!reader.ok) {
        return mock_fail(ACLNN_ERR_INNER, "%s: the device's answer is cut off",
                         call->operator_name);
    }
    if (status != ACLNN_SUCCESS) {
        return mock_fail(status, "%.*s", (int)text_length, text);
    }
    return ACLNN_SUCCESS;
}

static struct executor *make_executor(struct mock_call *call, const struct plan *plan,
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
            mock_handle_need(executor->used[i].handle, 1, 0);
        }
    }
    return executor;
}

static _Thread_local const char *failed_operator;

const char *mock_failed_operator(void)
{
    return failed_operator;
}

static aclnnStatus create(struct mock_call *call, uint32_t null_pointers, uint64_t *workspace_size,
                          aclOpExecutor **handle)
{
    struct plan plan;
    const bool hit = null_pointers == 0 && mock_current_device() != NULL &&
                     mock_cache_find(call->bytes + PREFIX, call->length - PREFIX, &plan);
    mock_write_addresses(call->bytes, call->slots, call->slot_count);
    if (!hit) {
        const aclnnStatus status = ask_device(call, &plan);
        if (status != ACLNN_SUCCESS) {
            return status;
        }
    }
    if (null_pointers != 0) {
        return mock_fail(ACLNN_ERR_PARAM_NULLPTR, "%s: workspaceSize or executor is NULL",
                         call->operator_name);
    }
    struct executor *executor = make_executor(call, &plan, hit);
    void *made = executor == NULL ? NULL : mock_handle_new(MOCK_EXECUTOR, executor);
    if (made == NULL) {
        if (executor != NULL) {
            mock_executor_free(executor);
        }
        return mock_fail(ACLNN_ERR_INNER_CREATE_EXECUTOR, "%s: no host memory for an executor",
                         call->operator_name);
    }
    *workspace_size = plan.workspace_size;
    *handle = made;
    return ACLNN_SUCCESS;
}

aclnnStatus mock_executor_create(struct mock_call *call, uint32_t null_pointers,
                                 uint64_t *workspace_size, aclOpExecutor **executor)
{
    const aclnnStatus status = create(call, null_pointers, workspace_size, executor);
    failed_operator = status == ACLNN_SUCCESS ? NULL : call->operator_name;
    return status;
}

/* ---- executors in the caller's hands ------------------------------------------------------ */

void mock_executor_report_dead(const aclOpExecutor *handle)
{
    const struct mock_origin now = mock_origin_now();
    const bool destroying =
        now.function != NULL && strcmp(now.function, "aclDestroyAclOpExecutor") == 0;
    enum mock_mark mark;
    struct mock_history history;
    const enum mock_fate fate = mock_handle_past(handle, MOCK_EXECUTOR, &mark, &history);
    if (fate != MOCK_DESTROYED || mark == MOCK_UNMARKED || mark == MOCK_MARK_REPEATABLE) {
        mock_violate_handle(handle, MOCK_EXECUTOR, destroying);
    } else if (mark == MOCK_MARK_NOT_KEPT) {
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

static aclnnStatus destroy(aclOpExecutor *handle)
{
    aclnnStatus status;
    struct executor *executor = mock_executor_find(handle, &status);
    if (executor != NULL) {
        mock_handle_close(handle, MOCK_EXECUTOR);
        mock_executor_free(executor);
    }
    return status;
}

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor)
{
    MOCK_GUARDED(destroy(executor));
}

static aclnnStatus set_repeatable(aclOpExecutor *handle)
{
    aclnnStatus status;
    struct executor *executor = mock_executor_find(handle, &status);
    if (executor != NULL && executor->from_cache) {
        /* To ask is the only way to know, so only what disregards this answer breaks a rule. */
        executor->refused = true;
        return mock_fail(ACLNN_ERR_INNER,
                         "%s: phase 1 was answered from the cache; such an executor cannot be "
                         "made repeatable",
                         executor->operator_name);
    }
    if (executor != NULL && !executor->repeatable) {
        executor->repeatable = true;
        mock_handle_mark(handle, MOCK_MARK_REPEATABLE);
        for (size_t i = 0; i < executor->used_count; i++) {
            mock_handle_need(executor->used[i].handle, 0, 1);
        }
    }
    return status;
}

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor)
{
    MOCK_GUARDED(set_repeatable(executor));
}

aclnnStatus aclnnInit(const char *configPath)
{
    (void)configPath;
    return ACLNN_SUCCESS;
}

aclnnStatus aclnnFinalize(void)
{
    return ACLNN_SUCCESS;
}
