/* SPDX-License-Identifier: Apache-2.0 */
/* Phase 2: checks the executor and queues its kernel. */
#include "phase2.h"

#include <stdlib.h>
#include <string.h>

#include "entry.h"
#include "error_message.h"
#include "executor.h"
#include "kernel.h"
#include "launch_check.h"
#include "objects.h"
#include "phase1.h"
#include "submission.h"
#include "violation.h"

static aclnnStatus check_workspace(const struct executor *executor, const void *workspace,
                                   uint64_t size)
{
    const uint64_t wanted = executor->plan.workspace_size;
    if (workspace == NULL && (size > 0 || wanted > 0)) {
        mock_violate(MOCK_WORKSPACE_NULL, "workspace", NULL, NULL,
                     "workspace is NULL with workspaceSize %llu; phase 1 asked for %llu bytes",
                     (unsigned long long)size, (unsigned long long)wanted);
    } else if (size < wanted) {
        mock_violate(MOCK_WORKSPACE_TOO_SMALL, "workspace", workspace, NULL,
                     "workspaceSize is %llu; phase 1 asked for %llu bytes",
                     (unsigned long long)size, (unsigned long long)wanted);
    }
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

/* Set the shape that the device has found; the tensor may be destroyed. */
static void reshape(const void *handle, const int64_t *dims, uint32_t rank)
{
    struct tensor *tensor = mock_handle_get(handle, MOCK_TENSOR);
    if (tensor != NULL && tensor->rank == rank) {
        memcpy(tensor->dims, dims, rank * sizeof dims[0]);
    }
}

/* List the tensors of a message, in its order; none without host memory. */
static void name_tensors(const struct executor *executor, struct mock_launch *launch)
{
    launch->tensors = calloc(executor->slot_count + 1, sizeof *launch->tensors);
    launch->tensor_count = launch->tensors == NULL ? 0 : executor->slot_count;
    launch->reshape = reshape;
    for (size_t i = 0; i < launch->tensor_count; i++) {
        launch->tensors[i] = executor->slots[i].handle;
    }
}

/* Queue an operator of a group of ranks: it runs when all of them have reached it. */
static aclnnStatus launch_together(const struct executor *executor, struct mock_launch *launch,
                                   aclrtStream stream)
{
    const size_t length = launch->length - MOCK_PREFIX;
    struct mock_exchange_part part = {.operation = "Operator",
                                      .count = length,
                                      .list_count = (uint32_t)((length + 7) / 8),
                                      .ranges = launch->ranges,
                                      .range_count = launch->range_count};
    uint64_t *call = calloc(part.list_count, sizeof *call);
    HcclResult result = HCCL_E_MEMORY;
    if (call != NULL) {
        memcpy(call, launch->message + MOCK_PREFIX, length);
        part.lists = call;
        result = mock_submit_collective(executor->group, &part, 1, stream);
    }
    free(call);
    free(launch->message);
    free(launch->ranges);
    return result == HCCL_SUCCESS ? ACLNN_SUCCESS : ACLNN_ERR_RUNTIME_ERROR;
}

static aclnnStatus launch_kernel(struct executor *executor, const void *workspace,
                                 aclrtStream stream)
{
    const uint64_t prefix[] = {(uint64_t)(uintptr_t)workspace, executor->plan.workspace_size,
                               executor->plan.number, 0};
    uint8_t *message = malloc(executor->length);
    if (message == NULL) {
        return mock_fail(ACLNN_ERR_INNER, "%s: no host memory", executor->operator_name);
    }
    memcpy(message, executor->message, executor->length);
    memcpy(message, prefix, sizeof prefix);
    /* A cached executor took its addresses in phase 1; the others look at their tensors now. */
    if (!executor->from_cache &&
        !mock_write_addresses(message, executor->slots, executor->slot_count)) {
        free(message);
        return mock_fail(ACLNN_ERR_INNER,
                         "%s: a tensor was destroyed between the two phases; tensors must live "
                         "until phase 2 has returned",
                         executor->operator_name);
    }
    struct mock_launch launch = {.message = message, .length = executor->length};
    const int device = mock_stream_device(stream);
    /* Without a stream there is no device that memory could be compared with. */
    if (device >= 0 && !mock_check_memory(executor, workspace, device, &launch)) {
        free(message);
        return mock_fail(ACLNN_ERR_INNER, "%s: no host memory", executor->operator_name);
    }
    if (executor->group != NULL && launch.refused == NULL) {
        return launch_together(executor, &launch, stream);
    }
    name_tensors(executor, &launch);
    if (mock_stream_launch(stream, &launch) != ACL_SUCCESS) {
        return ACLNN_ERR_RUNTIME_ERROR;
    }
    return ACLNN_SUCCESS;
}

static void save_message(const struct executor *executor)
{
    uint8_t *key = malloc(executor->length - MOCK_PREFIX);
    if (key == NULL) {
        return;
    }
    memcpy(key, executor->message + MOCK_PREFIX, executor->length - MOCK_PREFIX);
    for (size_t i = 0; i < executor->slot_count; i++) {
        memset(key + executor->slots[i].address_at - MOCK_PREFIX, 0, sizeof(uint64_t));
    }
    mock_cache_store(key, executor->length - MOCK_PREFIX, &executor->plan);
    free(key);
}

static aclnnStatus run(struct executor *executor, const void *workspace, uint64_t size,
                       aclrtStream stream)
{
    aclnnStatus status = check_workspace(executor, workspace, size);
    if (status != ACLNN_SUCCESS) {
        return status;
    }
    if (mock_check_objects(executor) > 0 && !executor->from_cache) {
        return mock_fail(ACLNN_ERR_INNER,
                         "%s: an argument was destroyed between the two phases; tensors, arrays "
                         "and scalars must live until phase 2 has returned",
                         executor->operator_name);
    }
    if (executor->plan.launches == 2) {
        return mock_fail(ACLNN_ERR_INNER,
                         "%s: the kernel of this operator refused the shapes; phase 1 of CANN "
                         "does not report it",
                         executor->operator_name);
    }
    mock_check_results(executor);
    if (executor->plan.launches == 1) {
        status = launch_kernel(executor, workspace, stream);
    }
    if (status == ACLNN_SUCCESS && !executor->from_cache) {
        save_message(executor);
    }
    return status;
}

/* Phase 2 where an executor does not fit: what it is, and why. */
static void report_executor(const char *operator_name, const aclOpExecutor *handle)
{
    const char *failed_operator = mock_failed_operator();
    if (failed_operator != NULL && strcmp(failed_operator, operator_name) == 0) {
        mock_violate_object(MOCK_EXECUTOR_USED_AFTER_FAILURE, MOCK_EXECUTOR, handle,
                            "phase 1 of %s failed and made no executor", operator_name);
    } else {
        mock_executor_report_dead(handle);
    }
}

static void consume(const aclOpExecutor *handle, struct executor *executor, enum mock_mark mark)
{
    const bool not_kept = mark == MOCK_MARK_USED && executor->refused;
    mock_handle_mark(handle, not_kept ? MOCK_MARK_REFUSED : mark);
    mock_handle_close(handle, MOCK_EXECUTOR);
    mock_executor_free(executor);
}

/* 0, or why an executor cannot run where phase 2 wants it to. */
static aclnnStatus check_place(const struct executor *executor, const char *operator_name,
                               const aclOpExecutor *handle, aclrtStream stream)
{
    const int device = mock_stream_device(stream);
    if (strcmp(executor->operator_name, operator_name) != 0) {
        mock_violate_object(MOCK_EXECUTOR_OF_ANOTHER_OPERATOR, MOCK_EXECUTOR, handle,
                            "this executor is one of %s", executor->operator_name);
        return mock_fail(ACLNN_ERR_INNER, "%s: the executor is one of %s", operator_name,
                         executor->operator_name);
    }
    if (device >= 0 && device != executor->device) {
        mock_violate_object(MOCK_PHASES_ON_DIFFERENT_DEVICES, MOCK_EXECUTOR, handle,
                            "phase 1 ran with device %d current; the stream belongs to device %d",
                            executor->device, device);
        return mock_fail(ACLNN_ERR_INNER,
                         "%s: phase 1 ran on device %d, phase 2 is to run on device %d",
                         operator_name, executor->device, device);
    }
    return ACLNN_SUCCESS;
}

static aclnnStatus phase2(const char *operator_name, const void *workspace, uint64_t size,
                          aclOpExecutor *handle, aclrtStream stream)
{
    struct executor *executor = mock_handle_get(handle, MOCK_EXECUTOR);
    if (executor == NULL) {
        report_executor(operator_name, handle);
    }
    if (handle == NULL) {
        return mock_fail(ACLNN_ERR_PARAM_NULLPTR, "%s: executor is NULL", operator_name);
    }
    if (executor == NULL) {
        return mock_fail(ACLNN_ERR_INNER,
                         "%s: %p is no live executor: phase 2 consumed it before, it was "
                         "destroyed, or phase 1 failed",
                         operator_name, (void *)handle);
    }
    aclnnStatus status = check_place(executor, operator_name, handle, stream);
    status = status != ACLNN_SUCCESS ? status : run(executor, workspace, size, stream);
    /* The one refusal that leaves an executor alive. */
    const bool kept = executor->plan.individual && size > 0 && workspace == NULL;
    if (!executor->repeatable && !kept) {
        consume(handle, executor,
                status == ACLNN_SUCCESS ? MOCK_MARK_USED : MOCK_MARK_FAILED);
    }
    return status;
}

void mock_phase2_abandon(const aclOpExecutor *handle)
{
    mock_enter();
    struct executor *executor = mock_handle_get(handle, MOCK_EXECUTOR);
    if (executor != NULL && !executor->repeatable) {
        consume(handle, executor, MOCK_MARK_FAILED);
    }
    mock_leave();
}

aclnnStatus mock_phase2(const char *operator_name, void *workspace, uint64_t workspace_size,
                        aclOpExecutor *executor, aclrtStream stream)
{
    mock_enter();
    const aclnnStatus status = phase2(operator_name, workspace, workspace_size, executor, stream);
    mock_leave();
    return status;
}
