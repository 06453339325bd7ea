/* SPDX-License-Identifier: Apache-2.0 */
/* The aclnn functions about executors. */
#include "executor.h"

#include "error_message.h"

aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *handle)
{
    aclnnStatus status;
    struct executor *executor = mock_executor_find(handle, &status);
    if (executor != NULL) {
        mock_handle_close(handle, MOCK_EXECUTOR);
        mock_executor_free(executor);
    }
    return status;
}

aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *handle)
{
    aclnnStatus status;
    struct executor *executor = mock_executor_find(handle, &status);
    if (executor != NULL && executor->from_cache) {
        /* Asking is the only way to know, so only ignoring this answer breaks a rule. */
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
            mock_handle_add_users(executor->used[i].handle, 0, 1);
        }
    }
    return status;
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
