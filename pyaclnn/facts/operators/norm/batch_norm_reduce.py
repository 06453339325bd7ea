# SPDX-License-Identifier: Apache-2.0
"""Sums for a batch normalization over several devices, and statistics made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import given, real, result, updated

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["BATCH_NORM_REDUCE", "SYNC_BATCH_NORM_GATHER_STATS"]

BATCH_NORM_REDUCE = describe(
    "aclnnBatchNormReduce",
    Build.COMPOSITE,
    "Add up each channel, and its squares, over one device's share of a batch.",
    types={"910b 910_93 950": "T=f32,f16,bf16"},
    x=given("T N C H W", "One device's share of the batch"),
    sum=result("f32 C", "The sum of each channel", fill=0.0),
    squareSum=result("f32 C", "The sum of the squares of each channel", fill=0.0),
    about={
        "order": "nedfs",
        "idle_without": "x sum squareSum",
        "formats": {4: "NCHW"},
        "channels_last": "910b 910_93 950",
        "source": "CANN: ops-nn norm/bn_training_reduce",
    },
)


def _no_devices(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    if values["devices"] != (0,):
        return None
    return "total_sum", "an array of no devices", "one of some"


SYNC_BATCH_NORM_GATHER_STATS = describe(
    "aclnnSyncBatchNormGatherStats",
    Build.COMPOSITE,
    "Make statistics of the whole batch of the sums of several devices, and move the running ones. "
    "With n elements a channel in all: ``batch_mean = sum(total_sum) / n``, "
    "``v = sum(total_square_sum) / n - batch_mean ** 2``, ``batch_invstd = 1 / sqrt(v + eps)``; "
    "the running ones become, in place, ``(1 - momentum) * running + momentum * batch``, with the "
    "variance ``v * n / (n - 1)``.",
    types={
        "910b 910_93": "T=f32 K=f32,f16,i32 | T=f16 K=f16,f32,i32",
        "950": "T=f32 K=f32,f16,bf16,i32 | T=f16 K=f16,f32,bf16,i32 | T=bf16 K=bf16,f32,f16,i32",
    },
    totalSum=given("T devices C", "The sum of each channel, a row for each device"),
    totalSquareSum=given("T devices C", "The sum of squares, like it", positive=True, large=64),
    sampleCount=given("K devices", "How many elements a channel has on each device", positive=True),
    mean=updated("T C", "The running mean"),
    variance=updated("T C", "The running variance", positive=True),
    momentum=real(
        0.1, "The share of the batch in the running statistics", least=0, most=1, loose=True
    ),
    eps=real(1e-5, "Added to the variance", above=0, loose=True),
    batchMean=result("T C", "The mean of each channel of the whole batch"),
    batchInvstd=result("T C", "The inverse deviation of each channel of the whole batch"),
    about={
        "order": "ndpsre",
        "refuse": _no_devices,
        "result_type": "SyncBatchNormGatherStatsResult",
        "source": "CANN: ops-nn norm/sync_batch_norm_gather_stats",
    },
)
