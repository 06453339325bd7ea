# SPDX-License-Identifier: Apache-2.0
"""Batch normalization over several devices, step by step."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import flag, given, real, result, updated

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "BATCH_NORM_ELEMT",
    "BATCH_NORM_ELEMT_BACKWARD",
    "BATCH_NORM_GATHER_STATS_WITH_COUNTS",
    "BATCH_NORM_REDUCE_BACKWARD",
    "BATCH_NORM_STATS",
]

_ANY = {"910b 910_93 950": "*=f32,f16,bf16", "910": "*=f32,f16"}
_REDUCED = {
    "910b 910_93 950": " | ".join(f"T={kind} *=f32,f16,bf16" for kind in ("f32", "f16", "bf16")),
    "910": "T=f32 *=f32,f16 | T=f16 *=f32,f16",
}


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


BATCH_NORM_STATS = describe(
    "aclnnBatchNormStats",
    Build.COMPOSITE,
    "Find the mean and the inverse deviation of each channel, with the biased variance. Over no "
    "elements, ``mean`` is 0 and ``invstd`` NaN.",
    types={"910b 910_93 910": "T=f32,f16", "950": "T=f32,f16,bf16"},
    input=given("T N C space*", "One device's share of the batch: samples, channels, others"),
    eps=real(1e-5, "Added to the variance", above=0, loose=True),
    mean=result("f32 C", "The mean of each channel", fill=0.0),
    invstd=result("f32 C", "``1 / sqrt(variance + eps)`` of each channel", fill=nan),
    about={
        "order": "ndpsre",
        "refuse": _no_channels,
        "source": "CANN: ops-math math/reduce_std_with_mean",
    },
)

BATCH_NORM_GATHER_STATS_WITH_COUNTS = describe(
    "aclnnBatchNormGatherStatsWithCounts",
    Build.COMPOSITE,
    "Combine the statistics of several devices into those of the whole batch, and move the running "
    "ones. With ``variance = 1 / invstd ** 2 - eps`` and n elements in all: "
    "``mean_all = sum(counts * mean) / n``, "
    "``squares = sum(counts * (variance + (mean - mean_all) ** 2))``, "
    "``invstd_all = 1 / sqrt(squares / n + eps)``; the running ones become, in place, "
    "``(1 - momentum) * running + momentum * batch``, with the variance ``squares / (n - 1)``.",
    types=_ANY,
    input=given("T N C space*", "What is normalized, of which only the channels matter"),
    mean=given("M devices C", "The mean of each channel, a row for each device"),
    invstd=given("I devices C", "The inverse deviation of each channel, like it", positive=True),
    runningMean=updated("E C", "The running mean; none moves if None", optional=True),
    runningVar=updated("V C", "The running variance; likewise", optional=True, positive=True),
    momentum=real(
        0.1, "The share of the batch in the running statistics", least=0, most=1, loose=True
    ),
    eps=real(1e-5, "What was added to the variance, and is again", above=0, loose=True),
    counts=given(
        "K devices", "How many elements a channel has on each device; more than 1", positive=True
    ),
    meanAll=result("f32/f16/bf16 C", "The mean of each channel of the whole batch", fill=0.0),
    invstdAll=result("f32/f16/bf16 C", "The inverse deviation, like it", fill=nan),
    about={
        "order": "ndpse",
        "refuse": _one_running,
        "idle_without": "mean",
        "compared": (
            "input^ mean^ invstd^ counts^ mean invstd counts runningMean runningVar meanAll "
            "invstdAll"
        ),
        "result_type": "BatchNormGatherStatsResult",
        "source": "CANN: ops-nn norm/sync_batch_norm_gather_stats_with_counts",
    },
)

BATCH_NORM_ELEMT = describe(
    "aclnnBatchNormElemt",
    Build.COMPOSITE,
    "Normalize channels with given statistics: ``(input - mean) * invstd * weight + bias``. CANN "
    "goes by way of ``1 / invstd ** 2 - eps``, in the dtype of ``invstd``.",
    types=_ANY,
    input=given("T N C space*", "What is normalized: batch, channels, others"),
    weight=given("W C", "The scale of each channel; ones if None", optional=True),
    bias=given("B C", "The shift of each channel; zeros if None", optional=True),
    mean=given("M C", "The mean of each channel"),
    invstd=given("I C", "The inverse deviation of each channel", positive=True),
    eps=real(1e-5, "What was added to the variance", above=0, loose=True),
    output=result("T N C space*", "The normalized tensor", loose="type"),
    about={
        "order": "ndfsre",
        "null_is_invalid": "input mean invstd output",
        "refuse": _no_channels,
        "source": "CANN: ops-nn norm/batch_norm_elemt",
    },
)

BATCH_NORM_REDUCE_BACKWARD = describe(
    "aclnnBatchNormReduceBackward",
    Build.COMPOSITE,
    "Sum, over one device's share of a batch, what the gradients need of it: "
    "``sum_dy = sum(grad_out)``, ``sum_dy_xmu = sum(grad_out * (input - mean))``, "
    "``grad_weight = sum_dy_xmu * invstd``, ``grad_bias = sum_dy``.",
    types=_REDUCED,
    gradOut=given("T N C space*", "The gradient of the normalized tensor", loose="shape"),
    input=given("T N C space*", "One device's share of the batch"),
    mean=given("M C", "The mean of each channel of the whole batch", loose="shape"),
    invstd=given("I C", "The inverse deviation of each channel", loose="shape", positive=True),
    weight=given("W C", "Not used", optional=True, loose="shape untyped"),
    inputG=flag(True, "Whether to return ``sum_dy`` and ``sum_dy_xmu``", name="input_g"),
    weightG=flag(True, "Whether to return ``grad_weight``", name="weight_g"),
    biasG=flag(True, "Whether to return ``grad_bias``", name="bias_g"),
    sumDy=result(
        "f32/f16/bf16 C", "The sum of the gradient", when=lambda values: values["input_g"]
    ),
    sumDyXmu=result(
        "f32/f16/bf16 C",
        "The sum of the gradient times what the input is above the mean",
        when=lambda values: values["input_g"],
    ),
    gradWeight=result(
        "f32/f16/bf16 C", "The gradient of the scale", when=lambda values: values["weight_g"]
    ),
    gradBias=result(
        "f32/f16/bf16 C", "The gradient of the shift", when=lambda values: values["bias_g"]
    ),
    about={
        "order": "ndfsre",
        "refuse": _no_channels,
        "idle_without": "gradOut input mean invstd",
        "without": ("N space", ("sum_dy", "sum_dy_xmu", "grad_weight", "grad_bias")),
        "compared": "gradOut^ input^ sumDy sumDyXmu gradWeight gradBias",
        "result_type": "BatchNormReduceGradients",
        "source": "CANN: ops-nn norm/sync_batch_norm_backward_reduce",
    },
)

BATCH_NORM_ELEMT_BACKWARD = describe(
    "aclnnBatchNormElemtBackward",
    Build.COMPOSITE,
    "Compute the gradient of one device's share of a batch. With the sums of all devices and "
    "``n = sum(counter)``: ``(grad_out - sum_dy / n - (input - mean) * invstd ** 2 * sum_dy_xmu / "
    "n) * invstd * weight``. If all tensors are float16, and there is a weight, CANN computes in "
    "float16, otherwise in float32.",
    types={
        "910b 910_93 950": "K=f32,f16,i32 *=f32,f16,bf16",
        "910": "K=f32,f16,i32 *=f32,f16",
    },
    gradOut=given("T N C space*", "The gradient of the normalized tensor"),
    input=given("X N C space*", "One device's share of the batch"),
    mean=given("M C", "The mean of each channel of the whole batch"),
    invstd=given("I C", "The inverse deviation of each channel", positive=True),
    weight=given("W C", "The scale of each channel; ones if None", optional=True),
    sumDy=given("S C", "The sum of the gradient over all devices"),
    sumDyXmu=given("D C", "The sum of the gradient times what the input is above the mean"),
    counter=given(
        "K counts*", "How many elements a channel has on each device, in any shape", positive=True
    ),
    gradInput=result("T/f32/f16/bf16 N C space*", "The gradient of ``input``"),
    about={
        "order": "ndpsre",
        "refuse": _no_channels,
        "idle_without": "gradOut input",
        "source": "CANN: ops-nn norm/sync_batch_norm_backward_elemt",
    },
)
