# SPDX-License-Identifier: Apache-2.0
"""Sums of one device for a batch normalization over devices, forward and backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import flag, given, result

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "BATCH_NORM_REDUCE",
    "BATCH_NORM_REDUCE_BACKWARD",
]


_REDUCED = {
    "910b 910_93 950": " | ".join(f"T={kind} *=f32,f16,bf16" for kind in ("f32", "f16", "bf16")),
    "910": "T=f32 *=f32,f16 | T=f16 *=f32,f16",
}


def _no_channels(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    if values["C"] != (0,):
        return None
    return "input", "an array without channels", "one of some: its second axis must not be 0"


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
