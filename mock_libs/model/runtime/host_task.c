/* SPDX-License-Identifier: Apache-2.0 */
/* Host tasks: work of another mock library in the order of a stream. */
#include "host_task.h"

#include <stdlib.h>

#include "error_message.h"
#include "exception.h"
#include "hazard.h"
#include "poisoned_workspace.h"

bool mock_host_task_run(struct stream *stream, const struct task *task)
{
    aclError failed = ACL_SUCCESS;
    const char *text = "";
    const struct mock_host_task *errand = &task->as.errand;
    const bool over = errand->run(errand->work, task->effect == MOCK_IS_WRONG, &failed, &text);
    mock_workspaces_forget(); /* it may write anywhere */
    if (!over) {
        return false;
    }
    if (failed != ACL_SUCCESS) {
        mock_stream_fail(stream, failed, "%s", text);
        mock_exception_record((uint32_t)stream->id, (uint32_t)stream->context->device->id,
                            task->position, failed);
    }
    return true;
}

aclError mock_stream_submit_host_task(aclrtStream handle, const struct mock_host_task *errand,
                             uint64_t *position)
{
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    if (stream != NULL && stream->lane != NULL) {
        status = mock_fail(MOCK_NOT_IMPLEMENTED,
                           "stream %d is being captured: operations of several ranks cannot be "
                           "captured on the simulated NPU",
                           stream->id);
        stream = NULL;
    }
    struct task *task = stream == NULL ? NULL : mock_stream_submit(stream, TASK_HOST, &status);
    if (task == NULL) {
        errand->end(errand->work);
        free(errand->ranges);
        return status;
    }
    task->as.errand = *errand;
    *position = task->position;
    mock_hazard_queued(stream, task);
    return ACL_SUCCESS;
}
