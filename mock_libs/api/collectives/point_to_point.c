/* SPDX-License-Identifier: Apache-2.0 */
/* Point-to-point operations, and groups of them, which are queued as one when the group ends. */
#include <stdbool.h>
#include <stdlib.h>

#include "hccl/hccl_comm.h"
#include "hccl_error.h"
#include "submission.h"

static struct mock_exchange_part part_from(const HcclSendRecvItem *item)
{
    const bool sends = item->sendRecvType == HCCL_SEND;
    return (struct mock_exchange_part){.operation = sends ? "Send" : "Recv",
                                       .data_type = item->dataType,
                                       .peer = item->remoteRank,
                                       .count = item->count,
                                       .send = sends ? item->buf : NULL,
                                       .receive = sends ? NULL : item->buf,
                                       .send_count = sends ? item->count : 0,
                                       .receive_count = sends ? 0 : item->count,
                                       .between = sends ? MOCK_TO_PEER : MOCK_FROM_PEER};
}

static HcclResult submit(const HcclSendRecvItem *items, uint32_t count, HcclComm comm,
                         aclrtStream stream)
{
    struct mock_exchange_part *parts = calloc(count, sizeof *parts);
    HcclResult result = parts == NULL ? HCCL_E_MEMORY : HCCL_SUCCESS;
    for (uint32_t i = 0; parts != NULL && i < count; i++) {
        if ((unsigned)items[i].sendRecvType > HCCL_RECV) {
            result = MOCK_HCCL_FAIL(HCCL_E_PARA, "EI0003: item %u is neither HCCL_SEND nor HCCL_RECV",
                               i);
        }
        parts[i] = part_from(&items[i]);
    }
    if (result == HCCL_SUCCESS) {
        result = mock_submit_collective(comm, parts, count, stream);
    }
    free(parts);
    return result;
}

/* Operations of a group wait for its end on their thread: no other order of them would be free of a
 * deadlock between ranks that send to each other. */
struct grouped {
    HcclSendRecvItem item;
    HcclComm comm;
    aclrtStream stream;
};
static _Thread_local struct {
    struct grouped *list;
    uint32_t count, depth;
} group;

static HcclResult submit_or_keep(const HcclSendRecvItem *items, uint32_t count, HcclComm comm,
                                 aclrtStream stream)
{
    if (group.depth == 0) {
        return submit(items, count, comm, stream);
    }
    struct grouped *list = realloc(group.list, (group.count + (size_t)count) * sizeof *list);
    if (list == NULL) {
        return HCCL_E_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++) {
        list[group.count++] = (struct grouped){items[i], comm, stream};
    }
    group.list = list;
    return HCCL_SUCCESS;
}

/* Submit the operations of the first communicator and stream, and leave the others in the list. */
static HcclResult submit_first(HcclSendRecvItem *items)
{
    const struct grouped first = group.list[0];
    uint32_t taken = 0, left = 0;
    for (uint32_t i = 0; i < group.count; i++) {
        const struct grouped one = group.list[i];
        if (one.comm == first.comm && one.stream == first.stream) {
            items[taken++] = one.item;
        } else {
            group.list[left++] = one;
        }
    }
    group.count = left;
    return submit(items, taken, first.comm, first.stream);
}

HcclResult HcclGroupStart(void)
{
    group.depth++;
    return HCCL_SUCCESS;
}

HcclResult HcclGroupEnd(void)
{
    if (group.depth == 0) {
        return MOCK_HCCL_FAIL(HCCL_E_PARA, "EI0003: no group was started on this thread");
    }
    if (--group.depth > 0 || group.count == 0) {
        return HCCL_SUCCESS;
    }
    HcclSendRecvItem *items = calloc(group.count, sizeof *items);
    HcclResult result = items == NULL ? HCCL_E_MEMORY : HCCL_SUCCESS;
    while (result == HCCL_SUCCESS && group.count > 0) {
        result = submit_first(items);
    }
    free(items);
    free(group.list);
    group.list = NULL;
    group.count = 0;
    return result;
}

HcclResult HcclGroupStatusGet(bool *isGroupEnabled)
{
    *isGroupEnabled = group.depth > 0;
    return HCCL_SUCCESS;
}

HcclResult HcclSend(void *sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
                    HcclComm comm, aclrtStream stream)
{
    const HcclSendRecvItem item = {HCCL_SEND, sendBuf, count, dataType, destRank};
    return submit_or_keep(&item, 1, comm, stream);
}

HcclResult HcclRecv(void *recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank,
                    HcclComm comm, aclrtStream stream)
{
    const HcclSendRecvItem item = {HCCL_RECV, recvBuf, count, dataType, srcRank};
    return submit_or_keep(&item, 1, comm, stream);
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem *sendRecvInfo, uint32_t itemNum, HcclComm comm,
                             aclrtStream stream)
{
    if (sendRecvInfo == NULL || itemNum == 0) {
        const HcclResult result = sendRecvInfo == NULL ? HCCL_E_PTR : HCCL_E_PARA;
        return MOCK_HCCL_FAIL(result, "EI0003: sendRecvInfo has no items");
    }
    return submit_or_keep(sendRecvInfo, itemNum, comm, stream);
}
