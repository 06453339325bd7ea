# SPDX-License-Identifier: Apache-2.0
"""The normalizing step of a batch normalization over devices, and its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import given, real, result

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "BATCH_NORM_ELEMT",
    "BATCH_NORM_ELEMT_BACKWARD",
]


def _no_channels(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    if values["C"] != (0,):
        return None
    return "input", "an array without channels", "one of some: its second axis must not be 0"


BATCH_NORM_ELEMT = describe(
    "aclnnBatchNormElemt",
    Build.COMPOSITE,
    "Normalize channels with given statistics: ``(input - mean) * invstd * weight + bias``. CANN "
    "goes by way of ``1 / invstd ** 2 - eps``, in the dtype of ``invstd``.",
    types={"910b 910_93 950": "*=f32,f16,bf16", "910": "*=f32,f16"},
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
