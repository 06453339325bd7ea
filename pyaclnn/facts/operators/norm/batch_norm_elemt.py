# SPDX-License-Identifier: Apache-2.0
"""The normalizing step of a batch normalization over devices, and its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.checks import (
    Code,
    constraint,
    dtypes,
    empty,
    fixed_format,
    formats,
    launch,
    public_formats,
    required,
    shapes,
)
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import input, output, real

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
    torch="torch.batch_norm_elemt: input weight bias mean invstd eps",
    parameters={
        "input": input("T N C space*", "The array to normalize: batch, channels, others"),
        "weight": input("W C", "The scale of each channel; ones if None", optional=True),
        "bias": input("B C", "The shift of each channel; zeros if None", optional=True),
        "mean": input("M C", "The mean of each channel"),
        "invstd": input("I C", "The inverse deviation of each channel", positive=True),
        "eps": real(1e-5, "The number that was added to the variance", above=0, unchecked=True),
        "output": output("T N C space*", "The normalized tensor", unchecked="type"),
    },
    checks=(
        required(code=Code.INVALID),
        dtypes(),
        formats(),
        shapes(),
        constraint(),
        empty(),
        # The batch normalization inside of it looks at the format again.
        launch(fixed_format("input", by_rank={5: "NCDHW"})),
    ),
    constraint=_no_channels,
    source="CANN: ops-nn norm/batch_norm_elemt",
    shows="[ 5.  6.  7.  8.  9. 10.]",
)

_BACKWARD = {
    "910b 910_93 950": "K=f32,f16,i32 *=f32,f16,bf16",
    "910": "K=f32,f16,i32 *=f32,f16",
}
BATCH_NORM_ELEMT_BACKWARD = describe(
    "aclnnBatchNormElemtBackward",
    Build.COMPOSITE,
    "Compute the gradient of one device's share of a batch. With the sums of all devices and "
    "``n = sum(counter)``: ``(grad_out - sum_dy / n - (input - mean) * invstd ** 2 * sum_dy_xmu / "
    "n) * invstd * weight``. If all tensors are float16, and there is a weight, CANN computes in "
    "float16, otherwise in float32.",
    types={**_BACKWARD, "310p": "K=f32,f16,i32 *=f32,f16"},
    later={"9.1": {"types": _BACKWARD}},
    torch=(
        "torch.batch_norm_backward_elemt: grad_out input mean invstd weight sum_dy sum_dy_xmu "
        "count=counter"
    ),
    parameters={
        "gradOut": input("T N C space*", "The gradient of the normalized tensor"),
        "input": input("X N C space*", "One device's share of the batch"),
        "mean": input("M C", "The mean of each channel of the whole batch"),
        "invstd": input("I C", "The inverse deviation of each channel", positive=True),
        "weight": input("W C", "The scale of each channel; ones if None", optional=True),
        "sumDy": input("S C", "The sum of the gradient over all devices"),
        "sumDyXmu": input("D C", "The sum of the gradient times what the input is above the mean"),
        "counter": input(
            "K counts*",
            "How many elements a channel has on each device, in any shape",
            positive=True,
        ),
        "gradInput": output("T/f32/f16/bf16 N C space*", "The gradient of ``input``"),
    },
    checks=(
        required(),
        dtypes(),
        public_formats(),
        shapes(),
        constraint(),
        empty("gradOut", "input"),
    ),
    constraint=_no_channels,
    source="CANN: ops-nn norm/sync_batch_norm_backward_elemt",
    shows="[-3.  -2.5 -4.  -4.5 -5.  -5.5]",
)
