/* SPDX-License-Identifier: Apache-2.0 */
/* Queries and destruction of a communicator. */
#include "communicator.h"

#include <pthread.h>
#include <string.h>

#include "entry.h"
#include "error_message.h"
#include "handles.h"
#include "hccl_error.h"
#include "progress_thread.h"
#include "violation.h"

static HcclResult destroy(HcclComm handle)
{
    struct communicator *communicator = mock_handle_get(handle, MOCK_COMMUNICATOR);
    if (communicator == NULL) {
        mock_violate_handle(handle, MOCK_COMMUNICATOR, true);
        return MOCK_HCCL_FAIL(HCCL_E_PTR, "%p is no live communicator", handle);
    }
    const struct submission *queued = communicator->queued;
    while (queued != NULL && queued->number == 0) { /* only captured */
        queued = queued->next;
    }
    if (queued != NULL) {
        mock_violate_object(MOCK_COMMUNICATOR_DESTROYED_IN_USE, MOCK_COMMUNICATOR, handle,
                            "%s was queued with it, and its stream has not come to the end of that",
                            queued->origin.function);
    }
    mock_communicator_delete(communicator);
    return HCCL_SUCCESS;
}

HcclResult HcclCommDestroy(HcclComm comm)
{
    mock_enter();
    const HcclResult result = destroy(comm);
    pthread_t attendant;
    const bool dismissed = mock_communicators() == NULL && mock_progress_thread_stop(&attendant);
    mock_leave();
    if (dismissed) {
        pthread_join(attendant, NULL);
    }
    return result;
}

HcclResult HcclGetRankSize(HcclComm comm, uint32_t *rankSize)
{
    const struct communicator *communicator = mock_communicator_find(comm);
    if (communicator == NULL) {
        return HCCL_E_PTR;
    }
    *rankSize = communicator->ranks;
    return HCCL_SUCCESS;
}

HcclResult HcclGetRankId(HcclComm comm, uint32_t *rank)
{
    const struct communicator *communicator = mock_communicator_find(comm);
    if (communicator == NULL) {
        return HCCL_E_PTR;
    }
    *rank = communicator->rank;
    return HCCL_SUCCESS;
}

HcclResult HcclGetCommName(HcclComm comm, char *commName)
{
    const struct communicator *communicator = mock_communicator_find(comm);
    if (communicator == NULL) {
        return HCCL_E_PTR;
    }
    strcpy(commName, communicator->name);
    return HCCL_SUCCESS;
}

HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult *asyncError)
{
    struct communicator *communicator = mock_communicator_find(comm);
    if (communicator == NULL) {
        return HCCL_E_PTR;
    }
    mock_communicator_poll(communicator);
    *asyncError = communicator->asynchronous;
    if (communicator->asynchronous != HCCL_SUCCESS) {
        mock_fail((aclError)communicator->asynchronous, "%s", communicator->text);
    }
    return HCCL_SUCCESS;
}

/* ---- the process ---------------------------------------------------------------------------- */

static void forked(void)
{
    mock_progress_thread_forked();
    mock_rendezvous_forked();
    mock_communicators_forked();
}

__attribute__((constructor)) static void set_up(void)
{
    pthread_atfork(NULL, NULL, forked);
}

__attribute__((destructor)) static void at_exit(void)
{
    pthread_t attendant;
    mock_enter();
    const bool dismissed = mock_progress_thread_stop(&attendant);
    mock_communicators_leave();
    mock_rendezvous_collect();
    mock_leave();
    if (dismissed) {
        pthread_join(attendant, NULL);
    }
}
