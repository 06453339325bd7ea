# SPDX-License-Identifier: Apache-2.0
"""Statistics of a batch that is spread over devices."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.checks import (
    constraint,
    dtypes,
    empty,
    public_formats,
    rank,
    required,
    shape,
    shapes,
)
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import inout, input, output, real
from pyaclnn.facts.operators.request import Hooks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.operators.request import Request

__all__ = [
    "BATCH_NORM_GATHER_STATS_WITH_COUNTS",
    "BATCH_NORM_STATS",
    "SYNC_BATCH_NORM_GATHER_STATS",
]


def _no_channels(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    if values["C"] != (0,):
        return None
    return "input", "an array without channels", "one of some: its second axis must not be 0"


def _one_running(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    given = {name: values[name] is not None for name in ("running_mean", "running_var")}
    if len(set(given.values())) == 1:
        return None
    name = next(name for name in given if given[name])
    other = next(other for other in given if other != name)
    return name, "an array", f"None as '{other}' is, or both be arrays: both move or none"


def _no_devices(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    if values["devices"] != (0,):
        return None
    return "total_sum", "an array of no devices", "one of some"


def _unwritten(request: Request) -> tuple[str, ...]:
    """Return the running variance, which is not written where there is no running mean."""
    return ("running_var",) if request.tensors["running_mean"] is None else ()


BATCH_NORM_STATS = describe(
    "aclnnBatchNormStats",
    Build.COMPOSITE,
    "Find the mean and the inverse deviation of each channel, with the biased variance. Over no "
    "elements, ``mean`` is 0 and ``invstd`` NaN.",
    types={"910b 910_93 910": "T=f32,f16", "950": "T=f32,f16,bf16"},
    torch="torch.batch_norm_stats: input eps",
    parameters={
        "input": input(
            "T N C space*", "One device's share of the batch: samples, channels, others"
        ),
        "eps": real(1e-5, "Added to the variance", above=0, unchecked=True),
        "mean": output("f32 C", "The mean of each channel", fill=0.0),
        "invstd": output("f32 C", "``1 / sqrt(variance + eps)`` of each channel", fill=nan),
    },
    checks=(required(), dtypes(), public_formats(), shapes(), constraint(), empty()),
    constraint=_no_channels,
    source="CANN: ops-math math/reduce_std_with_mean",
    shows="[3. 4. 5. 6. 7. 8.]",
)

_GATHERED = {"910b 910_93 950": "*=f32,f16,bf16", "910": "*=f32,f16"}
BATCH_NORM_GATHER_STATS_WITH_COUNTS = describe(
    "aclnnBatchNormGatherStatsWithCounts",
    Build.COMPOSITE,
    "Combine the statistics of several devices into those of the whole batch, and move the running "
    "ones. With ``variance = 1 / invstd ** 2 - eps`` and n elements in all: "
    "``mean_all = sum(counts * mean) / n``, "
    "``squares = sum(counts * (variance + (mean - mean_all) ** 2))``, "
    "``invstd_all = 1 / sqrt(squares / n + eps)``; the running ones become, in place, "
    "``(1 - momentum) * running + momentum * batch``, with the variance ``squares / (n - 1)``.",
    types={**_GATHERED, "310p": "*=f32,f16"},
    later={"9.1": {"types": _GATHERED}},
    torch=(
        "torch.batch_norm_gather_stats_with_counts: input mean invstd running_mean running_var "
        "momentum eps counts"
    ),
    parameters={
        "input": input("T N C space*", "The array to normalize, of which only the channels matter"),
        "mean": input("M devices C", "The mean of each channel, a row for each device"),
        "invstd": input(
            "I devices C", "The inverse deviation of each channel, like it", positive=True
        ),
        "runningMean": inout("E C", "The running mean; none moves if None", optional=True),
        "runningVar": inout("V C", "The running variance; likewise", optional=True, positive=True),
        "momentum": real(
            0.1, "The share of the batch in the running statistics", least=0, most=1, unchecked=True
        ),
        "eps": real(
            1e-5, "The number that was added to the variance, and is again", above=0, unchecked=True
        ),
        "counts": input(
            "K devices",
            "How many elements a channel has on each device; more than 1",
            positive=True,
        ),
        "meanAll": output(
            "f32/f16/bf16 C", "The mean of each channel of the whole batch", fill=0.0
        ),
        "invstdAll": output("f32/f16/bf16 C", "The inverse deviation, like it", fill=nan),
    },
    checks=(
        required(),
        dtypes(),
        public_formats(),
        rank("input", "mean", "invstd", "counts", most=8),
        shape("mean", "invstd", "counts", "runningMean", "runningVar", "meanAll", "invstdAll"),
        empty("mean"),
    ),
    constraint=_one_running,
    hooks=Hooks(unwritten=_unwritten),
    result_type="BatchNormGatherStatsResult",
    source="CANN: ops-nn norm/sync_batch_norm_gather_stats_with_counts",
    shows="[1. 1. 1. 1. 1. 1.]",
)

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
    parameters={
        "totalSum": input("T devices C", "The sum of each channel, a row for each device"),
        "totalSquareSum": input(
            "T devices C", "The sum of squares, like it", positive=True, large=64
        ),
        "sampleCount": input(
            "K devices", "How many elements a channel has on each device", positive=True
        ),
        "mean": inout("T C", "The running mean"),
        "variance": inout("T C", "The running variance", positive=True),
        "momentum": real(
            0.1, "The share of the batch in the running statistics", least=0, most=1, unchecked=True
        ),
        "eps": real(1e-5, "Added to the variance", above=0, unchecked=True),
        "batchMean": output("T C", "The mean of each channel of the whole batch"),
        "batchInvstd": output("T C", "The inverse deviation of each channel of the whole batch"),
    },
    checks=(required(), dtypes(), public_formats(), shapes(), constraint(), empty()),
    constraint=_no_devices,
    source="CANN: ops-nn norm/sync_batch_norm_gather_stats",
    shows="[1.2 1.3 1.4 1.5 1.6 1.7]",
)
