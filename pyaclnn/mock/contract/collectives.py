# SPDX-License-Identifier: Apache-2.0
"""Rules about communicators and their collective operations."""

from __future__ import annotations

from .rule import Rule

__all__ = ["COLLECTIVES"]

COLLECTIVES = (
    Rule(
        id="collective-mismatched",
        title="the ranks of a communicator ask for different things",
        explanation="Every rank must call the same operations in the same order, with the same "
        "count, data type, reduction and root. HCCL compares them at best when it makes the "
        "connection; otherwise ranks wait for each other for ever, or write over memory.",
        fix="give every rank the same sequence of operations and the same arguments",
        source="CANN: HCCL, fault code EI0005",
        wrong="collective_open();\nHcclAllReduce(x_at, y_at, 8, HCCL_DATA_TYPE_FP32, "
        "HCCL_REDUCE_SUM, comms[0], stream);\n"
        "on_rank(1);\n"
        "HcclAllReduce(far_x, far_y, 4, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[1], far);\n"
        "aclrtSynchronizeStream(stream);\naclrtSynchronizeStream(far);\ncollective_close();",
        right="collective_open();\nHcclAllReduce(x_at, y_at, 8, HCCL_DATA_TYPE_FP32, "
        "HCCL_REDUCE_SUM, comms[0], stream);\n"
        "on_rank(1);\n"
        "HcclAllReduce(far_x, far_y, 8, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[1], far);\n"
        "aclrtSynchronizeStream(stream);\naclrtSynchronizeStream(far);\ncollective_close();",
    ),
    Rule(
        id="collective-out-of-bounds",
        title="a collective operation reaches beyond a block of memory",
        explanation="Counts are elements of one rank; some buffers hold those of all ranks: what "
        "HcclAllGather and HcclAlltoAll receive, what HcclReduceScatter, HcclAlltoAll and the "
        "root of HcclScatter send.",
        fix="allocate as much for every rank as the count says",
        source="CANN: HCCL, the descriptions of the operations",
        wrong="collective_open();\nHcclAllGather(x_at, y_at, BYTES / 4, HCCL_DATA_TYPE_FP32, "
        "comms[0], stream);\ncollective_close();",
        right="collective_open();\nHcclAllGather(x_at, y_at, BYTES / 8, HCCL_DATA_TYPE_FP32, "
        "comms[0], stream);\n"
        "on_rank(1);\n"
        "HcclAllGather(far_x, far_y, BYTES / 8, HCCL_DATA_TYPE_FP32, comms[1], far);\n"
        "aclrtSynchronizeStream(stream);\naclrtSynchronizeStream(far);\ncollective_close();",
    ),
    Rule(
        id="communicator-destroyed-in-use",
        title="a communicator is destroyed while its operations are queued",
        explanation="An operation uses what the communicator holds until its stream has passed "
        "it; HcclCommDestroy does not wait for that.",
        fix="synchronize the streams first, on every rank",
        source="CANN: HCCL, HcclCommDestroy",
        wrong="collective_open();\nHcclBarrier(comms[0], stream);\non_rank(1);\n"
        "HcclBarrier(comms[1], far);\n"
        "must(HcclCommDestroy(comms[0]));\ncomms[0] = NULL;\ncollective_close();",
        right="collective_open();\nHcclBarrier(comms[0], stream);\non_rank(1);\n"
        "HcclBarrier(comms[1], far);\n"
        "aclrtSynchronizeStream(stream);\naclrtSynchronizeStream(far);\ncollective_close();",
    ),
)
