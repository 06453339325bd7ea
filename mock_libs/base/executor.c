/* SPDX-License-Identifier: Apache-2.0 */
/* aclOpExecutor: what stands between the two phases of an operator. */
#include "executor.h"

#include <stdlib.h>
#include <string.h>

#include "objects.h"

/* The workspace's address and size stand before the call in the message of phase 2. */
enum { PREFIX = 16 };

static void write_address(uint8_t *message, const struct mock_tensor_slot *slot,
                          const void *address)
{
    const uint64_t value = (uint64_t)(uintptr_t)address;
    memcpy(message + slot->address_at, &value, sizeof value);
}

/* Fills in where the tensors are now; false: one of them is gone. */
static bool write_addresses(uint8_t *message, const struct mock_tensor_slot *slots, size_t count)
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

static void free_executor(struct executor *executor)
{
    free(executor->message);
    free(executor->slots);
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
        call->bytes = NULL;
        call->slots = NULL;
    }
    return executor;
}

aclnnStatus mock_executor_create(struct mock_call *call, uint32_t null_pointers,
                                 uint64_t *workspace_size, aclOpExecutor **handle)
{
    struct plan plan;
    const bool hit = null_pointers == 0 && mock_current_device() != NULL &&
                     mock_cache_find(call->bytes + PREFIX, call->length - PREFIX, &plan);
    write_addresses(call->bytes, call->slots, call->slot_count);
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
            free_executor(executor);
        }
        return mock_fail(ACLNN_ERR_INNER_CREATE_EXECUTOR, "%s: no host memory for an executor",
                         call->operator_name);
    }
    *workspace_size = plan.workspace_size;
    *handle = made;
    return ACLNN_SUCCESS;
}

/* ---- phase 2 ------------------------------------------------------------------------------ */

static aclnnStatus check_workspace(const struct executor *executor, const void *workspace,
                                   uint64_t size)
{
    if (size > 0 && workspace == NULL) {
        return mock_fail(ACLNN_ERR_PARAM_NULLPTR, "%s: workspace is NULL with workspaceSize %llu",
                         executor->operator_name, (unsigned long long)size);
    }
    /* Composite operators do not compare: too small a workspace is overrun on the device. */
    if (executor->plan.individual && size < executor->plan.workspace_size) {
        return mock_fail(ACLNN_ERR_PARAM_INVALID,
                         "%s: workspaceSize is %llu; phase 1 asked for %llu",
                         executor->operator_name, (unsigned long long)size,
                         (unsigned long long)executor->plan.workspace_size);
    }
    return ACLNN_SUCCESS;
}

static aclnnStatus launch(struct executor *executor, const void *workspace, uint64_t size,
                          aclrtStream stream)
{
    const uint64_t prefix[2] = {(uint64_t)(uintptr_t)workspace, size};
    uint8_t *message = malloc(executor->length);
    if (message == NULL) {
        return mock_fail(ACLNN_ERR_INNER, "%s: no host memory", executor->operator_name);
    }
    memcpy(message, executor->message, executor->length);
    memcpy(message, prefix, sizeof prefix);
    /* A cached executor took its addresses in phase 1; the others look at their tensors now. */
    if (!executor->from_cache &&
        !write_addresses(message, executor->slots, executor->slot_count)) {
        free(message);
        return mock_fail(ACLNN_ERR_INNER,
                         "%s: a tensor was destroyed between the two phases; tensors must live "
                         "until phase 2 has returned",
                         executor->operator_name);
    }
    if (mock_stream_launch(stream, message, executor->length) != ACL_SUCCESS) {
        return ACLNN_ERR_RUNTIME_ERROR;
    }
    return ACLNN_SUCCESS;
}

static void remember(const struct executor *executor)
{
    uint8_t *key = malloc(executor->length - PREFIX);
    if (key == NULL) {
        return;
    }
    memcpy(key, executor->message + PREFIX, executor->length - PREFIX);
    for (size_t i = 0; i < executor->slot_count; i++) {
        memset(key + executor->slots[i].address_at - PREFIX, 0, sizeof(uint64_t));
    }
    mock_cache_store(key, executor->length - PREFIX, &executor->plan);
    free(key);
}

static aclnnStatus run(struct executor *executor, const void *workspace, uint64_t size,
                       aclrtStream stream)
{
    aclnnStatus status = check_workspace(executor, workspace, size);
    if (status != ACLNN_SUCCESS) {
        return status;
    }
    if (executor->plan.launches == 2) {
        return mock_fail(ACLNN_ERR_INNER,
                         "%s: the kernel of this operator refused the shapes; phase 1 of CANN "
                         "does not report it",
                         executor->operator_name);
    }
    if (executor->plan.launches == 1) {
        status = launch(executor, workspace, size, stream);
    }
    if (status == ACLNN_SUCCESS && !executor->from_cache) {
        remember(executor);
    }
    return status;
}

static aclnnStatus phase2(const char *operator_name, const void *workspace, uint64_t size,
                          aclOpExecutor *handle, aclrtStream stream)
{
    struct executor *executor = mock_handle_get(handle, MOCK_EXECUTOR);
    if (handle == NULL) {
        return mock_fail(ACLNN_ERR_PARAM_NULLPTR, "%s: executor is NULL", operator_name);
    }
    if (executor == NULL) {
        return mock_fail(ACLNN_ERR_INNER,
                         "%s: %p is no live executor: phase 2 consumed it before, it was "
                         "destroyed, or phase 1 failed",
                         operator_name, (void *)handle);
    }
    const aclnnStatus status = run(executor, workspace, size, stream);
    /* The one refusal that leaves an executor alive. */
    const bool kept = executor->plan.individual && size > 0 && workspace == NULL;
    if (!executor->repeatable && !kept) {
        mock_handle_close(handle, MOCK_EXECUTOR);
        free_executor(executor);
    }
    return status;
}

aclnnStatus mock_call_phase2(const char *operator_name, void *workspace, uint64_t workspace_size,
                             aclOpExecutor *executor, aclrtStream stream)
{
    MOCK_GUARDED(phase2(operator_name, workspace, workspace_size, executor, stream));
}

/* ---- executors in the caller's hands ------------------------------------------------------ */

struct executor *mock_executor_find(const aclOpExecutor *handle, aclnnStatus *status)
{
    struct executor *executor = mock_handle_get(handle, MOCK_EXECUTOR);
    *status = ACLNN_SUCCESS;
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
        free_executor(executor);
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
        return mock_fail(ACLNN_ERR_INNER,
                         "%s: phase 1 was answered from the cache; such an executor cannot be "
                         "made repeatable",
                         executor->operator_name);
    }
    if (executor != NULL) {
        executor->repeatable = true;
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
