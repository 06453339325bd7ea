/* SPDX-License-Identifier: Apache-2.0 */
/* What two ranks do. */
#include <stdbool.h>
#include <stdlib.h>

#include "refusal.h"
#include "submission.h"

static struct mock_exchange_part part_of(const HcclSendRecvItem *item)
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
                                       .between = sends ? MOCK_SENT_TO : MOCK_RECEIVED_FROM};
}

static HcclResult submit(const HcclSendRecvItem *items, uint32_t count, HcclComm comm,
                         aclrtStream stream)
{
    struct mock_exchange_part *parts = calloc(count, sizeof *parts);
    HcclResult came = parts == NULL ? HCCL_E_MEMORY : HCCL_SUCCESS;
    for (uint32_t i = 0; parts != NULL && i < count; i++) {
        if ((unsigned)items[i].sendRecvType > HCCL_RECV) {
            came = MOCK_REFUSE(HCCL_E_PARA, "EI0003: item %u is neither HCCL_SEND nor HCCL_RECV",
                               i);
        }
        parts[i] = part_of(&items[i]);
    }
    if (came == HCCL_SUCCESS) {
        came = mock_submit(comm, parts, count, stream);
    }
    free(parts);
    return came;
}

HcclResult HcclSend(void *sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
                    HcclComm comm, aclrtStream stream)
{
    const HcclSendRecvItem item = {HCCL_SEND, sendBuf, count, dataType, destRank};
    return submit(&item, 1, comm, stream);
}

HcclResult HcclRecv(void *recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank,
                    HcclComm comm, aclrtStream stream)
{
    const HcclSendRecvItem item = {HCCL_RECV, recvBuf, count, dataType, srcRank};
    return submit(&item, 1, comm, stream);
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem *sendRecvInfo, uint32_t itemNum, HcclComm comm,
                             aclrtStream stream)
{
    if (sendRecvInfo == NULL || itemNum == 0) {
        const HcclResult came = sendRecvInfo == NULL ? HCCL_E_PTR : HCCL_E_PARA;
        return MOCK_REFUSE(came, "EI0003: sendRecvInfo has no items");
    }
    return submit(sendRecvInfo, itemNum, comm, stream);
}
