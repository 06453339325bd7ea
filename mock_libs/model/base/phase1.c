/* SPDX-License-Identifier: Apache-2.0 */
/* Phase 1: the device, or the cache, returns the plan, which an executor stores. */
#include "phase1.h"

#include <stdlib.h>
#include <string.h>

#include "answers.h"
#include "communicator.h"
#include "context.h"
#include "entry.h"
#include "error_message.h"
#include "executor.h"
#include "lock.h"
#include "stream.h"
#include "task.h"
#include "wire.h"
#include "wire_reader.h"

static aclnnStatus request_plan(const struct mock_call *call, struct plan *plan)
{
    struct device *device = mock_current_device();
    uint8_t *answer;
    size_t length;
    /* The runtime has recorded why; its own code stays the thread's last error. */
    if (device == NULL) {
        return ACLNN_ERR_RUNTIME_ERROR;
    }
    const uint64_t session = device->session;
    const struct timespec deadline = mock_deadline(device->patience);
    if (!mock_device_request(device, MOCK_CHECK, call->bytes + MOCK_PREFIX,
                             call->length - MOCK_PREFIX, &deadline, &answer, &length)) {
        if (!device->lost && device->session == session) {
            mock_fail(ACL_ERROR_RT_REPORT_TIMEOUT,
                      "%s: the kernel did not end in phase 1 within %lld s; if it only is slow, set "
                      "PYACLNN_MOCK_PATIENCE to more seconds",
                      call->operator_name, (long long)device->patience / 1000);
        }
        return ACLNN_ERR_RUNTIME_ERROR;
    }
    struct mock_reader reader = {answer, length, 0, true};
    const aclnnStatus status = (aclnnStatus)mock_read_u32(&reader);
    plan->individual = mock_read_u32(&reader) == 1;
    plan->written = mock_read_u64(&reader);
    plan->launches = mock_read_u32(&reader);
    plan->workspace_size = mock_read_u64(&reader);
    plan->number = mock_read_u64(&reader);
    plan->unwritten = mock_read_u64(&reader);
    const uint32_t apart = mock_read_u32(&reader);
    plan->apart = apart == 1;
    plan->bases = apart == 2;
    const uint32_t flags = mock_read_u32(&reader);
    plan->any_scalars = (flags & 1) != 0;
    plan->spares_workspace = (flags & 2) != 0;
    uint32_t text_length;
    const char *text = mock_read_string(&reader, &text_length);
    aclnnStatus code = ACLNN_SUCCESS;
    if (!reader.ok) {
        code = mock_fail(ACLNN_ERR_INNER, "%s: the device's answer is cut off",
                         call->operator_name);
    } else if (status != ACLNN_SUCCESS) {
        code = mock_fail(status, "%.*s", (int)text_length, text);
    }
    free(answer);
    return code;
}

/* The current device and its process; 0 for none that lives. */
static uint64_t current_session(void)
{
    struct device *device = mock_current_device();
    const bool alive = device != NULL && mock_device_alive(device) == ACL_SUCCESS;
    return alive ? device->session * MOCK_MAX_DEVICES + (uint64_t)device->id : 0;
}

/* Ask the device, unless it has accepted an equal call before. This writes the addresses. */
static aclnnStatus find_plan(struct mock_call *call, uint64_t session, struct plan *plan)
{
    const bool alive = session != 0;
    const size_t length = call->length - MOCK_PREFIX;
    if (alive && mock_answer_find(session, call->bytes + MOCK_PREFIX, length, plan)) {
        mock_write_addresses(call->bytes, call->slots, call->slot_count);
        return ACLNN_SUCCESS;
    }
    uint8_t *keys = malloc(2 * length);
    uint8_t *const key = keys, *const blank = keys == NULL ? NULL : keys + length;
    if (keys != NULL) {
        memcpy(key, call->bytes + MOCK_PREFIX, length);
        memcpy(blank, key, length);
        for (size_t i = 0; i < call->scalar_count; i++) {
            memset(blank + call->scalars[i].value_at - MOCK_PREFIX, 0, call->scalars[i].bytes);
        }
    }
    mock_write_addresses(call->bytes, call->slots, call->slot_count);
    if (keys != NULL && alive && call->scalar_count > 0 &&
        mock_answer_find(session, blank, length, plan) && plan->any_scalars) {
        free(keys);
        return ACLNN_SUCCESS;
    }
    const aclnnStatus status = request_plan(call, plan);
    plan->session = session;
    if (keys != NULL && status == ACLNN_SUCCESS && alive) {
        mock_answer_store(session, plan->any_scalars ? blank : key, length, plan);
    }
    free(keys);
    return status;
}

static _Thread_local const char *failed_operator;

const char *mock_failed_operator(void)
{
    return failed_operator;
}

static aclnnStatus create(struct mock_call *call, uint32_t null_pointers,
                          const struct communicator *group, uint64_t *workspace_size,
                          aclOpExecutor **handle)
{
    struct plan plan;
    const bool hit = null_pointers == 0 && mock_current_device() != NULL &&
                     mock_cache_find(call->bytes + MOCK_PREFIX, call->length - MOCK_PREFIX, &plan);
    const uint64_t session = current_session();
    /* A device that was reset has a new process, which does not know the number of the plan. */
    if (hit && (session == 0 || session == plan.session)) {
        mock_write_addresses(call->bytes, call->slots, call->slot_count);
    } else {
        const aclnnStatus status = find_plan(call, session, &plan);
        if (status != ACLNN_SUCCESS) {
            return status;
        }
    }
    if (null_pointers != 0) {
        return mock_fail(ACLNN_ERR_PARAM_NULLPTR, "%s: workspaceSize or executor is NULL",
                         call->operator_name);
    }
    struct executor *executor = mock_executor_new(call, &plan, hit);
    void *made = executor == NULL ? NULL : mock_handle_new(MOCK_EXECUTOR, executor);
    if (made == NULL) {
        if (executor != NULL) {
            mock_executor_free(executor);
        }
        return mock_fail(ACLNN_ERR_INNER_CREATE_EXECUTOR, "%s: no host memory for an executor",
                         call->operator_name);
    }
    executor->group = group == NULL ? NULL : group->handle;
    *workspace_size = plan.workspace_size;
    *handle = made;
    return ACLNN_SUCCESS;
}

static aclnnStatus phase1(struct mock_call *call, uint64_t *workspace_size,
                          aclOpExecutor **executor)
{
    if (call->no_memory) {
        return mock_fail(ACLNN_ERR_INNER, "%s: no host memory", call->operator_name);
    }
    if (call->long_argument != NULL) {
        return mock_fail(ACLNN_ERR_PARAM_INVALID,
                         "%s: with %s the arguments are more than %d bytes; an operator takes no "
                         "array of so many elements",
                         call->operator_name, call->long_argument, MOCK_MAX_PAYLOAD);
    }
    if (call->dead_argument != NULL) {
        return mock_fail(ACLNN_ERR_PARAM_INVALID,
                         "%s: %s is no live %s: it was destroyed, or never was one",
                         call->operator_name, call->dead_argument,
                         mock_kind_name(call->dead_kind));
    }
    const uint32_t null_pointers =
        (workspace_size == NULL ? 1u : 0u) | (executor == NULL ? 2u : 0u);
    const struct communicator *group =
        call->group == NULL ? NULL : mock_communicator_named(call->group, mock_stream_device(NULL));
    mock_call_finish(call, null_pointers | (mock_deterministic() ? 4u : 0u) |
                               (group == NULL ? 0u : group->ranks << MOCK_RANKS_SHIFT));
    const aclnnStatus status = create(call, null_pointers, group, workspace_size, executor);
    failed_operator = status == ACLNN_SUCCESS ? NULL : call->operator_name;
    return status;
}

aclnnStatus mock_phase1(struct mock_call *call, uint64_t *workspace_size, aclOpExecutor **executor)
{
    const aclnnStatus status = phase1(call, workspace_size, executor);
    mock_call_free(call);
    mock_leave();
    return status;
}
