/* SPDX-License-Identifier: Apache-2.0 */
/* Collective operations of all ranks. */
#include <stdlib.h>
#include <string.h>

#include "communicator.h"
#include "hccl_error.h"
#include "submission.h"

/* Buffer size of a rank: `count` elements, that for each rank, or only on the root or the
 * others. */
enum share { NONE, OWN, ALL, OWN_OF_ROOT, ALL_OF_ROOT, OWN_OF_OTHERS };

static uint64_t elements(enum share share, uint64_t count, const struct communicator *communicator,
                         uint32_t root)
{
    const bool is_root = communicator->rank == root;
    const bool all = share == ALL || share == ALL_OF_ROOT;
    uint64_t product;
    if (share == NONE || ((share == OWN_OF_ROOT || share == ALL_OF_ROOT) && !is_root) ||
        (share == OWN_OF_OTHERS && is_root)) {
        return 0;
    }
    return __builtin_mul_overflow(count, all ? communicator->ranks : 1, &product) ? UINT64_MAX
                                                                                  : product;
}

static HcclResult queue(struct mock_exchange_part part, enum share sends, enum share receives,
                        HcclComm comm, aclrtStream stream)
{
    const struct communicator *communicator = mock_communicator_find(comm);
    if (communicator == NULL) {
        return HCCL_E_PTR;
    }
    part.send_count = elements(sends, part.count, communicator, part.peer);
    part.receive_count = elements(receives, part.count, communicator, part.peer);
    return mock_submit_collective(comm, &part, 1, stream);
}

static struct mock_exchange_part part_of(const char *operation, HcclDataType data_type,
                                         uint64_t count, const void *send, void *receive)
{
    return (struct mock_exchange_part){.operation = operation,
                                       .data_type = data_type,
                                       .count = count,
                                       .send = send,
                                       .receive = receive};
}

HcclResult HcclAllReduce(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
                         HcclReduceOp op, HcclComm comm, aclrtStream stream)
{
    struct mock_exchange_part part = part_of("AllReduce", dataType, count, sendBuf, recvBuf);
    part.reduction = op;
    return queue(part, OWN, OWN, comm, stream);
}

HcclResult HcclReduce(void *sendBuf, void *recvBuf, uint64_t count, HcclDataType dataType,
                      HcclReduceOp op, uint32_t root, HcclComm comm, aclrtStream stream)
{
    struct mock_exchange_part part = part_of("Reduce", dataType, count, sendBuf, recvBuf);
    part.reduction = op;
    part.peer = root;
    return queue(part, OWN, OWN_OF_ROOT, comm, stream);
}

HcclResult HcclBroadcast(void *buf, uint64_t count, HcclDataType dataType, uint32_t root,
                         HcclComm comm, aclrtStream stream)
{
    struct mock_exchange_part part = part_of("Broadcast", dataType, count, buf, buf);
    part.peer = root;
    return queue(part, OWN_OF_ROOT, OWN_OF_OTHERS, comm, stream);
}

HcclResult HcclScatter(void *sendBuf, void *recvBuf, uint64_t recvCount, HcclDataType dataType,
                       uint32_t root, HcclComm comm, aclrtStream stream)
{
    struct mock_exchange_part part = part_of("Scatter", dataType, recvCount, sendBuf, recvBuf);
    part.peer = root;
    return queue(part, ALL_OF_ROOT, OWN, comm, stream);
}

HcclResult HcclReduceScatter(void *sendBuf, void *recvBuf, uint64_t recvCount,
                             HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                             aclrtStream stream)
{
    struct mock_exchange_part part =
        part_of("ReduceScatter", dataType, recvCount, sendBuf, recvBuf);
    part.reduction = op;
    return queue(part, ALL, OWN, comm, stream);
}

HcclResult HcclAllGather(void *sendBuf, void *recvBuf, uint64_t sendCount, HcclDataType dataType,
                         HcclComm comm, aclrtStream stream)
{
    const struct mock_exchange_part part =
        part_of("AllGather", dataType, sendCount, sendBuf, recvBuf);
    return queue(part, OWN, ALL, comm, stream);
}

static HcclResult differ(const char *operation, const char *what)
{
    return MOCK_HCCL_FAIL(HCCL_E_PARA, "EI0003: Hccl%s: %s of what is sent and of what is "
                       "received differ",
                       operation, what);
}

HcclResult HcclAlltoAll(const void *sendBuf, uint64_t sendCount, HcclDataType sendType,
                        const void *recvBuf, uint64_t recvCount, HcclDataType recvType,
                        HcclComm comm, aclrtStream stream)
{
    const struct mock_exchange_part part =
        part_of("AlltoAll", sendType, sendCount, sendBuf, (void *)(uintptr_t)recvBuf);
    if (sendType != recvType || sendCount != recvCount) {
        return differ(part.operation, sendType != recvType ? "the types" : "the counts");
    }
    return queue(part, ALL, ALL, comm, stream);
}

HcclResult HcclBarrier(HcclComm comm, aclrtStream stream)
{
    return queue((struct mock_exchange_part){.operation = "Barrier"}, NONE, NONE, comm, stream);
}

/* ---- another count for each rank ------------------------------------------------------------ */

/* As many elements as reach from the start to the end of the last piece. */
static uint64_t extent(const uint64_t *counts, const uint64_t *starts, uint32_t ranks)
{
    uint64_t most = 0, end;
    for (uint32_t i = 0; i < ranks; i++) {
        if (__builtin_add_overflow(starts[i], counts[i], &end)) {
            end = UINT64_MAX;
        }
        most = counts[i] > 0 && end > most ? end : most;
    }
    return most;
}

/* Which of the two buffers is cut by lists, of which each has two: counts and displacements. */
enum cut { SENT, RECEIVED, BOTH };

static uint32_t lists_of(enum cut cut)
{
    return cut == BOTH ? 4 : 2;
}

/* Take over the lists, which are as long as there are ranks, and sees how far they reach. */
static void describe(struct mock_exchange_part *part, const uint64_t *lists, enum cut cut,
                     uint32_t ranks)
{
    const uint64_t *received = cut == BOTH ? lists + 2 * (size_t)ranks : lists;
    part->lists = lists;
    part->list_count = lists_of(cut) * ranks;
    part->send_count = cut == RECEIVED ? part->count : extent(lists, lists + ranks, ranks);
    part->receive_count = cut == SENT ? part->count : extent(received, received + ranks, ranks);
}

static HcclResult queue_lists(struct mock_exchange_part part, const void *const *lists,
                              enum cut cut, HcclComm comm, aclrtStream stream)
{
    const uint32_t count = lists_of(cut);
    const struct communicator *communicator = mock_communicator_find(comm);
    const uint32_t ranks = communicator == NULL ? 0 : communicator->ranks;
    uint64_t *all = communicator == NULL ? NULL : calloc((size_t)count * ranks, sizeof *all);
    HcclResult result = communicator == NULL ? HCCL_E_PTR : HCCL_E_MEMORY;
    for (uint32_t i = 0; all != NULL && i < count; i++) {
        memcpy(all + (size_t)i * ranks, lists[i], ranks * sizeof *all);
    }
    if (all != NULL) {
        describe(&part, all, cut, ranks);
        result = mock_submit_collective(comm, &part, 1, stream);
    }
    free(all);
    return result;
}

HcclResult HcclAlltoAllV(const void *sendBuf, const void *sendCounts, const void *sdispls,
                         HcclDataType sendType, const void *recvBuf, const void *recvCounts,
                         const void *rdispls, HcclDataType recvType, HcclComm comm,
                         aclrtStream stream)
{
    const void *const lists[] = {sendCounts, sdispls, recvCounts, rdispls};
    const struct mock_exchange_part part =
        part_of("AlltoAllV", sendType, 0, sendBuf, (void *)(uintptr_t)recvBuf);
    if (sendType != recvType) {
        return differ(part.operation, "the types");
    }
    return queue_lists(part, lists, BOTH, comm, stream);
}

HcclResult HcclAllGatherV(void *sendBuf, uint64_t sendCount, void *recvBuf, const void *recvCounts,
                          const void *recvDispls, HcclDataType dataType, HcclComm comm,
                          aclrtStream stream)
{
    const void *const lists[] = {recvCounts, recvDispls};
    const struct mock_exchange_part part =
        part_of("AllGatherV", dataType, sendCount, sendBuf, recvBuf);
    return queue_lists(part, lists, RECEIVED, comm, stream);
}

HcclResult HcclReduceScatterV(void *sendBuf, const void *sendCounts, const void *sendDispls,
                              void *recvBuf, uint64_t recvCount, HcclDataType dataType,
                              HcclReduceOp op, HcclComm comm, aclrtStream stream)
{
    const void *const lists[] = {sendCounts, sendDispls};
    struct mock_exchange_part part =
        part_of("ReduceScatterV", dataType, recvCount, sendBuf, recvBuf);
    part.reduction = op;
    return queue_lists(part, lists, SENT, comm, stream);
}

/* Row r of the matrix is what rank r sends to each; here a list is as long as there are ranks. */
HcclResult HcclAlltoAllVC(const void *sendBuf, const void *sendCountMatrix, HcclDataType sendType,
                          const void *recvBuf, HcclDataType recvType, HcclComm comm,
                          aclrtStream stream)
{
    const struct communicator *communicator = mock_communicator_find(comm);
    if (communicator == NULL) {
        return HCCL_E_PTR;
    }
    const uint32_t ranks = communicator->ranks;
    const uint64_t *matrix = sendCountMatrix;
    uint64_t *lists = calloc(4 * (size_t)ranks, sizeof *lists);
    if (lists == NULL) {
        return HCCL_E_MEMORY;
    }
    uint64_t *sent = lists, *send_start = lists + ranks, *received = lists + 2 * (size_t)ranks;
    uint64_t *receive_start = lists + 3 * (size_t)ranks;
    for (uint32_t i = 0; i < ranks; i++) {
        sent[i] = matrix[(size_t)communicator->rank * ranks + i];
        received[i] = matrix[(size_t)i * ranks + communicator->rank];
        send_start[i] = i == 0 ? 0 : send_start[i - 1] + sent[i - 1];
        receive_start[i] = i == 0 ? 0 : receive_start[i - 1] + received[i - 1];
    }
    const HcclResult result = HcclAlltoAllV(sendBuf, sent, send_start, sendType, recvBuf, received,
                                            receive_start, recvType, comm, stream);
    free(lists);
    return result;
}
