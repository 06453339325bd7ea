# SPDX-License-Identifier: Apache-2.0
"""Batch normalization of integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.checks import constraint, dtypes, formats, options, required, shapes
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import input, output, real, scalar

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["QUANTIZED_BATCH_NORM"]

_ZERO_POINT: Mapping[str, Any] = {
    "doc": "The integer that stands for 0 in it",
    "word": "i32",
    "least": -(1 << 31),
    "most": (1 << 31) - 1,
    "sample": lambda _: 2,
}


def _nothing(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    if 0 not in (*values["N"], *values["C"], *values["H"], *values["W"]):
        return None
    return "input", "an array without elements", "one of some: CANN takes no empty one here"


QUANTIZED_BATCH_NORM = describe(
    "aclnnQuantizedBatchNorm",
    Build.COMPOSITE,
    "Normalize channels of integers with given statistics and quantize them again: "
    "``x = (input - input_zero_point) * input_scale``, "
    "``y = (x - mean) / sqrt(var + epsilon) * weight + bias``, "
    "``round(y / output_scale + output_zero_point)``, within the type.",
    types={"910b 910_93 950": "T=i8,u8,i32 Y=i8,u8,i32"},
    parameters={
        "input": input("T N C H W", "The integers: batch, channels and two more axes"),
        "mean": input("f32 C", "The mean of each channel"),
        "var": input("f32 C", "The variance of each channel", positive=True),
        "inputScale": scalar(
            doc="The quantization scale of the input", word="f32", sample=lambda _: 0.5
        ),
        "inputZeroPoint": scalar(**_ZERO_POINT),
        "outputScale": scalar(
            doc="The quantization scale of the result", word="f32", sample=lambda _: 0.25
        ),
        "outputZeroPoint": scalar(**_ZERO_POINT),
        "weight": input("f32 C", "The scale of each channel; ones if None", optional=True),
        "bias": input("f32 C", "The shift of each channel; zeros if None", optional=True),
        "epsilon": real(1e-5, "Added to the variance", above=0, unchecked=True),
        "output": output(
            "T/Y N C H W", "The integers; they have the type of ``out`` if there is one"
        ),
    },
    checks=(required(), dtypes(), formats(), shapes(), options(), constraint()),
    constraint=_nothing,
    source="CANN: ops-nn norm/quantized_batch_norm",
    shows="[122 124 126 127]",
)
