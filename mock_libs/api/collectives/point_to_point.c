/* SPDX-License-Identifier: Apache-2.0 */
/* Point-to-point operations. */
#include <stdbool.h>
#include <stdlib.h>

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
        const HcclResult result = sendRecvInfo == NULL ? HCCL_E_PTR : HCCL_E_PARA;
        return MOCK_HCCL_FAIL(result, "EI0003: sendRecvInfo has no items");
    }
    return submit(sendRecvInfo, itemNum, comm, stream);
}
