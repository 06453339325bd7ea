/* SPDX-License-Identifier: Apache-2.0 */
/* Host tasks: work of another mock library in the order of a stream. */
#include "host_task.h"

#include <stdlib.h>

#include "device.h"
#include "error_message.h"
#include "exception.h"
#include "hazard.h"
#include "poisoned_workspace.h"

bool mock_host_task_run(struct stream *stream, const struct task *task)
{
    aclError failed = ACL_SUCCESS;
    const char *text = "";
    const struct mock_host_task *errand = &task->as.errand;
    mock_devices_reach();
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

void mock_host_task_queued(const struct stream *stream, const struct task *task)
{
    if (task->kind == TASK_HOST && task->as.errand.queued != NULL) {
        task->as.errand.queued(task->as.errand.work, stream->handle, task->position);
    }
}

aclError mock_stream_submit_host_task(aclrtStream handle, const struct mock_host_task *errand)
{
    aclError status;
    struct stream *stream = mock_stream_find(handle, true, &status);
    if (stream != NULL && stream->lane != NULL && errand->again == NULL) {
        status = mock_fail(MOCK_NOT_IMPLEMENTED,
                           "stream %d is being captured: this call cannot be captured on the "
                           "simulated NPU",
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
    if (stream->lane == NULL) {
        mock_host_task_queued(stream, task);
    }
    mock_hazard_queued(stream, task);
    return ACL_SUCCESS;
}
