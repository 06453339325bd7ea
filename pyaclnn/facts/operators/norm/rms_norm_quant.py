# SPDX-License-Identifier: Apache-2.0
"""Root-mean-square normalization that gives integers, and the gradient of it that does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.checks import (
    agree,
    dtypes,
    each,
    empty,
    in_graph,
    launch,
    one_element,
    packed,
    rank,
    required,
    rule,
    same_shape,
    shape,
    text,
)
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import flag, input, integer, output, real, string
from pyaclnn.facts.operators.request import shape_text
from pyaclnn.facts.operators.words import PACKED

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = [
    "RMS_NORM_DYNAMIC_QUANT",
    "RMS_NORM_GRAD_QUANT",
    "RMS_NORM_QUANT",
    "RMS_NORM_QUANT_V3",
]

_ROUNDED = (
    "halves to even, within int8. An ``out`` of int32 holds eight integers of 4 bits an element, "
    "the first one lowest"
)
# On the 950 the scale is float32 with an offset of float32 or int32, or it has the input's type.
_ON_950 = "T=f32 S=f32 Z=f32 Y=i8,i32 | " + " | ".join(
    f"T={kind} S=f32 Z=f32,i32 Y=i8,i32 | T={kind} S={kind} Z={kind},i8 Y=i8,i32"
    for kind in ("f16", "bf16")
)
_INT8_TYPE = 2


def _wrong_output(request: Request, name: str) -> str | None:
    """Compare the last axis; only the 950 compares the others."""
    dims, (last,), rows = request.tensors[name].dims, request.known["H"], request.known["rows"]
    per_element = PACKED if request.types[name] == "i32" else 1
    leading = rows if request.chip.family == "950" else dims[:-1]
    if dims and dims[-1] * per_element == last and dims[:-1] == leading:
        return None
    must = last // per_element
    return f"y has shape {shape_text(dims)}; it must end in {must}, where x ends in {last}"


def _no_copy(request: Request) -> str | None:
    """Compare the other axes as the copy into the output does."""
    dims = request.tensors["y"].dims
    if dims[:-1] == request.known["rows"]:
        return None
    return f"y has shape {shape_text(dims)}; the result cannot be copied into it"


RMS_NORM_QUANT = describe(
    "aclnnRmsNormQuant",
    Build.COMPOSITE,
    "Normalize over the last axis as ``rms_norm`` does, shift, and quantize by one scale: "
    f"``y = round((x * rstd * gamma + beta) / scale + offset)``, {_ROUNDED}.",
    types={
        "910b 910_93": "T=f16 S=f16 Z=i8 Y=i8,i32 | T=bf16 S=bf16 Z=i8 Y=i8,i32",
        "950": _ON_950,
        "310p 310b": "T=f16 S=f16 Z=i8 Y=i8",
    },
    parameters={
        "x": input("T rows* H", "The array to normalize"),
        "gamma": input("T H | 1 H", "The scale of the norm"),
        "beta": input("T H | 1 H", "The shift of the norm"),
        "scale": input("S 1", "The divisor of the result", positive=True),
        "offset": input("Z 1", "The offset to add before rounding"),
        "epsilon": real(1e-6, "Added to the mean square", least=0, unchecked=True),
        "y": output("Y rows* H", "The result, quantized", packed="i32"),
    },
    checks=(
        required(),
        dtypes(),
        rank("x", "y", most=8),
        rank("scale", least=1, most=1),
        shape("gamma"),
        each(_wrong_output, "y"),
        shape("beta"),
        same_shape("offset", "scale"),
        launch(one_element("scale"), rule(_no_copy)),
    ),
    source="CANN: ops-nn norm/rms_norm_quant",
    shows="[18 19 20 21 23 24]",
)

RMS_NORM_QUANT_V3 = describe(
    "aclnnRmsNormQuantV3",
    Build.COMPOSITE,
    "Normalize over the last axis as ``rms_norm`` does, shift, and quantize by one scale: "
    "``v = x * rstd * gamma + beta``, ``y = round(v / scale + offset)``, or ``v * scale``, "
    f"{_ROUNDED}.",
    types={"950": _ON_950},
    parameters={
        "x": input("T rows* H", "The array to normalize"),
        "gamma": input("T H | 1 H", "The scale of the norm"),
        "scale": input("S 1", "The divisor of the result", positive=True),
        "offset": input("Z 1", "The offset to add before rounding; 0 if None", optional=True),
        "beta": input("T H | 1 H", "The shift of the norm; zeros if None", optional=True),
        "epsilon": real(1e-6, "Added to the mean square", least=0, unchecked=True),
        "divMode": flag(True, "Whether the scale divides; else it multiplies"),
        "outputRstd": flag(False, "Whether to return ``rstd``", sample=lambda _: True),
        "y": output("Y rows* H", "The result, quantized", packed="i32"),
        "rstd": output(
            "f32 rows* 1",
            "``1 / sqrt(mean(x ** 2) + epsilon)``",
            when=lambda values: values["output_rstd"],
        ),
    },
    checks=(
        required(),
        rank("gamma", least=1, most=2),
        rank("scale", least=1, most=1),
        packed("y", "x"),
        in_graph(shape("x", "gamma", "scale", "offset", "beta", "y", "rstd"), dtypes()),
    ),
    source="CANN: ops-nn norm/rms_norm_quant_v2",
    shows="[ 7  8  9 10 12 13]",
)

RMS_NORM_DYNAMIC_QUANT = describe(
    "aclnnRmsNormDynamicQuant",
    Build.INDIVIDUAL,
    "Normalize over the last axis as ``rms_norm`` does, shift, and quantize each row by its "
    "largest magnitude: ``v = (x * rstd * gamma + beta) * smooth_scales``, "
    "``factor = 127 / max(abs(v))``, ``y = round(v * factor)``, halves to even, "
    "``scale = 1 / factor``.",
    types={"910b 910_93": "T=f16,bf16"},
    parameters={
        "x": input("T rows* D H", "The array to normalize"),
        "gamma": input("T H", "The scale of the norm"),
        "smoothScalesOptional": input(
            "T H", "The factor before quantization; ones if None", optional=True
        ),
        "betaOptional": input("T H", "The shift of the norm; zeros if None", optional=True),
        "epsilon": real(1e-6, "Added to the mean square", above=0),
        "dstType": integer(derived=lambda _: _INT8_TYPE),
        "yOut": output("i8 rows* D H", "The result, quantized"),
        "scaleOut": output("f32 rows* D", "The quantization scale of ``y``, one for each row"),
    },
    checks=(
        rank("x", "gamma", most=8),
        rank("yOut", "scaleOut"),
        shape("x", "gamma", "smoothScalesOptional", "betaOptional", "yOut", "scaleOut"),
        agree("dstType"),
    ),
    source="CANN: ops-nn norm/rms_norm_dynamic_quant",
    shows="[ 95 101 108 114 121 127]",
)

RMS_NORM_GRAD_QUANT = describe(
    "aclnnRmsNormGradQuant",
    Build.COMPOSITE,
    "Compute the gradients of ``rms_norm`` and quantize that of ``x`` by one scale: "
    "``dx = round(dx / scales_x + offset_x)``, or ``dx * scales_x``, halves to even, within int8.",
    types={"950": "T=f32 G=f32 | T=f16 G=f32,f16 | T=bf16 G=f32,bf16"},
    parameters={
        "dy": input("T rows* norm*", "The gradient of ``y``"),
        "x": input("T rows* norm*", "The input of ``rms_norm``"),
        "rstd": input(
            "f32 rows~",
            "As returned by ``rms_norm``: one element for each row",
            made_by=("rms_norm", "rstd"),
        ),
        "gamma": input("G norm*", "The scale, whose axes are those that were normalized"),
        "scalesX": input("f32/f16/bf16 1", "The divisor or factor of ``dx``", positive=True),
        "offsetXOptional": input(
            "i32 1", "The offset to add before rounding; 0 if None", optional=True
        ),
        "quantMode": string(derived=lambda _: "static"),
        "divMode": flag(True, "Whether the scale divides; else it multiplies"),
        "dxOut": output("i8 rows* norm*", "The gradient of ``x``, quantized"),
        "dgammaOut": output("f32 norm*", "The gradient of ``gamma``"),
    },
    checks=(
        required(),
        empty("gamma"),
        in_graph(
            shape("dy", "x", "rstd", "gamma", "scalesX", "offsetXOptional", "dxOut", "dgammaOut"),
            dtypes(),
        ),
        launch(text("quantMode", "static")),
    ),
    nonempty="norm",
    source="CANN: ops-nn norm/rms_norm_grad_quant",
    shows="[0 1 0 0 0 0]",
)
