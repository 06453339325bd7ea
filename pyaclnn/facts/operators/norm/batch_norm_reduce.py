# SPDX-License-Identifier: Apache-2.0
"""Sums of one device for a batch normalization over devices, forward and backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.checks import (
    constraint,
    dtypes,
    empty,
    fixed_format,
    formats,
    launch,
    rank,
    required,
    shape,
    shapes,
)
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import flag, input, output
from pyaclnn.facts.operators.request import Hooks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.operators.request import Request

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
    parameters={
        "x": input("T N C H W", "One device's share of the batch"),
        "sum": output("f32 C", "The sum of each channel", fill=0.0),
        "squareSum": output("f32 C", "The sum of the squares of each channel", fill=0.0),
    },
    checks=(
        required(),
        empty("x", "sum", "squareSum"),
        dtypes(),
        formats({4: "NCHW"}),
        shapes(),
        fixed_format("sum", "squareSum", by_rank={1: "ND"}),
    ),
    channels_last=("910b", "910_93", "950"),
    source="CANN: ops-nn norm/bn_training_reduce",
    shows="[ 568.  696.  824.  952. 1080. 1208. 1336. 1464.]",
)

_WANTED_BY = {
    "sum_dy": "input_g",
    "sum_dy_xmu": "input_g",
    "grad_weight": "weight_g",
    "grad_bias": "bias_g",
}


def _fills(request: Request) -> dict[str, float]:
    """Return 0 for sums of nothing on the 950; other chips write nothing."""
    needed = (request.tensors[name].size for name in ("grad_out", "input", "mean", "invstd"))
    if request.chip.family != "950" or all(needed):
        return {}
    return {name: 0.0 for name, option in _WANTED_BY.items() if request.values[option]}


BATCH_NORM_REDUCE_BACKWARD = describe(
    "aclnnBatchNormReduceBackward",
    Build.COMPOSITE,
    "Sum, over one device's share of a batch, what the gradients need of it: "
    "``sum_dy = sum(grad_out)``, ``sum_dy_xmu = sum(grad_out * (input - mean))``, "
    "``grad_weight = sum_dy_xmu * invstd``, ``grad_bias = sum_dy``.",
    types={**_REDUCED, "310p": _REDUCED["910"]},
    later={"9.1": {"types": _REDUCED}},
    torch=(
        "torch.batch_norm_backward_reduce: grad_out input mean invstd weight input_g weight_g "
        "bias_g"
    ),
    parameters={
        "gradOut": input("T N C space*", "The gradient of the normalized tensor"),
        "input": input("T N C space*", "One device's share of the batch"),
        "mean": input("M C", "The mean of each channel of the whole batch"),
        "invstd": input("I C", "The inverse deviation of each channel", positive=True),
        "weight": input("W C", "Not used", optional=True, unchecked="untyped", ignored=True),
        "inputG": flag(True, "True to return ``sum_dy`` and ``sum_dy_xmu``", name="input_g"),
        "weightG": flag(True, "True to return ``grad_weight``", name="weight_g"),
        "biasG": flag(True, "True to return ``grad_bias``", name="bias_g"),
        "sumDy": output(
            "f32/f16/bf16 C", "The sum of the gradient", when=lambda values: values["input_g"]
        ),
        "sumDyXmu": output(
            "f32/f16/bf16 C",
            "The sum of the gradient times what the input is above the mean",
            when=lambda values: values["input_g"],
        ),
        "gradWeight": output(
            "f32/f16/bf16 C", "The gradient of the scale", when=lambda values: values["weight_g"]
        ),
        "gradBias": output(
            "f32/f16/bf16 C", "The gradient of the shift", when=lambda values: values["bias_g"]
        ),
    },
    checks=(
        required(),
        dtypes(),
        formats(),
        rank("gradOut", "input", most=8),
        shape("sumDy", "sumDyXmu", "gradWeight", "gradBias"),
        constraint(),
        empty("gradOut", "input", "mean", "invstd"),
        launch(shape("gradOut", "mean", "invstd")),
    ),
    constraint=_no_channels,
    zeros=("N space", ("sum_dy", "sum_dy_xmu", "grad_weight", "grad_bias")),
    hooks=Hooks(fills=_fills),
    result_type="BatchNormReduceGradients",
    source="CANN: ops-nn norm/sync_batch_norm_backward_reduce",
    shows="[1. 1. 0. 0. 0. 0.]",
)
