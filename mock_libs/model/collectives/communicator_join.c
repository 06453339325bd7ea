/* SPDX-License-Identifier: Apache-2.0 */
/* Joining of a group of ranks. */
#include "communicator_join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error_message.h"
#include "hccl_error.h"
#include "packet.h"
#include "progress_thread.h"
#include "wire.h"

static void ask(struct communicator *communicator, const struct mock_rank_placement *place)
{
    const size_t length = strlen(place->group);
    const struct mock_join_packet join = {.kind = MOCK_JOIN,
                                   .version = MOCK_PACKET_VERSION,
                                   .rank = place->rank,
                                   .ranks = place->ranks,
                                   .device = place->device,
                                   .group_bytes = (uint32_t)length};
    uint8_t *packet = malloc(sizeof join + length);
    if (packet != NULL) {
        memcpy(packet, &join, sizeof join);
        memcpy(packet + sizeof join, place->group, length);
        mock_communicator_send(communicator, packet, sizeof join + length, -1);
        free(packet);
    }
}

HcclResult mock_communicator_join(const struct mock_rank_placement *place, struct communicator **joined)
{
    *joined = NULL;
    if (place->ranks == 0 || place->rank >= place->ranks) {
        return MOCK_HCCL_FAIL(HCCL_E_PARA, "EI0003: rank %u of %u: ranks count from 0", place->rank,
                           place->ranks);
    }
    const int socket = mock_rendezvous_connect(place->address);
    if (socket < 0) {
        return HCCL_E_TCP_CONNECT;
    }
    *joined = mock_communicator_new(place->address, socket, place->device, place->rank,
                                    place->ranks);
    if (*joined == NULL) {
        close(socket);
        return MOCK_HCCL_FAIL(HCCL_E_MEMORY, "no host memory for a communicator");
    }
    if (place->name != NULL) {
        snprintf((*joined)->name, sizeof (*joined)->name, "%s", place->name);
    }
    ask(*joined, place);
    return HCCL_SUCCESS;
}

HcclResult mock_communicators_await(struct communicator **joined, uint32_t count)
{
    HcclResult refusal = HCCL_SUCCESS;
    for (uint32_t i = 0; i < count && refusal == HCCL_SUCCESS; i++) {
        while (!joined[i]->answered && refusal == HCCL_SUCCESS) {
            refusal = mock_wait_progress(NULL) ? HCCL_SUCCESS : HCCL_E_TIMEOUT;
        }
        if (refusal == HCCL_E_TIMEOUT) {
            mock_fail((aclError)refusal, "a signal ended the wait for the other ranks");
        } else if ((refusal = joined[i]->refusal) != HCCL_SUCCESS) {
            mock_fail((aclError)refusal, "%s", joined[i]->text);
        }
    }
    for (uint32_t i = 0; i < count && refusal != HCCL_SUCCESS; i++) {
        mock_communicator_delete(joined[i]);
    }
    if (refusal == HCCL_SUCCESS && joined[0]->distributed) {
        mock_progress_thread_start();
    }
    return refusal;
}

/* The name that a configuration gives, or NULL. */
static HcclResult read_config(const HcclCommConfig *config, const char **name)
{
    uint32_t magic = HCCL_COMM_CONFIG_MAGIC_WORD;
    *name = NULL;
    if (config != NULL) {
        memcpy(&magic, config->reserved + sizeof(size_t), sizeof magic);
        *name = config->hcclCommName[0] == '\0' ? NULL : config->hcclCommName;
    }
    if (magic != HCCL_COMM_CONFIG_MAGIC_WORD ||
        (*name != NULL && memchr(*name, '\0', COMM_NAME_MAX_LENGTH) == NULL)) {
        return MOCK_HCCL_FAIL(HCCL_E_PARA,
                           "EI0003: config was not filled in by HcclCommConfigInit, or its name "
                           "has no end");
    }
    return HCCL_SUCCESS;
}

HcclResult mock_communicator_create(struct mock_rank_placement *place, const HcclCommConfig *config,
                                    HcclComm *comm)
{
    struct communicator *joined;
    HcclResult result = read_config(config, &place->name);
    result = result == HCCL_SUCCESS ? mock_communicator_join(place, &joined) : result;
    result = result == HCCL_SUCCESS ? mock_communicators_await(&joined, 1) : result;
    if (result == HCCL_SUCCESS) {
        *comm = joined->handle;
    }
    return result;
}
