/* SPDX-License-Identifier: Apache-2.0 */
/* Submission of collective operations and their results. */
#pragma once

#include "hccl/hccl.h"
#include "task.h"

/* One exchange, as the caller describes it; `lists` holds, for each rank, what the operation needs. */
struct mock_exchange_part {
    const char *operation;
    HcclDataType data_type;
    HcclReduceOp reduction;
    uint32_t peer;
    uint64_t count;
    const void *send;
    void *receive;
    uint64_t send_count, receive_count; /* elements there, 0: nothing is used */
    const uint64_t *lists;
    uint32_t list_count;
    const struct mock_range *ranges; /* memory that is used beside both, and was checked */
    size_t range_count;
    enum { MOCK_ALL_RANKS, MOCK_TO_PEER, MOCK_FROM_PEER } between;
};

/* Queue parts on a stream as one piece of work. */
HcclResult mock_submit_collective(HcclComm handle, const struct mock_exchange_part *parts, uint32_t count,
                       aclrtStream stream);
