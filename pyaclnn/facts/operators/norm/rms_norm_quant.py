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
    "the first one lowest; one of float8, on Ascend 950, the nearest numbers of that"
)
_FLOAT8 = "e5m2,e4m3"


def _on_950(to: str) -> str:
    """Return the rows of the 950: a scale of float32, with an integer offset too, or like x."""
    return f"T=f32 S=f32 Z=f32 Y={to} | " + " | ".join(
        f"T={kind} S=f32 Z=f32,i32 Y={to} | T={kind} S={kind} Z={kind},i8 Y={to}"
        for kind in ("f16", "bf16")
    )


_TYPES = {
    "910b 910_93": "T=f16 S=f16 Z=i8 Y=i8,i32 | T=bf16 S=bf16 Z=i8 Y=i8,i32",
    "950": _on_950(f"i8,i32,{_FLOAT8}"),
    "310p 310b": "T=f16 S=f16 Z=i8 Y=i8",
}
_ACCEPTED = {
    "910b 910_93": _TYPES["910b 910_93"].replace("Y=", "Y=i4,"),
    "950": _on_950(f"i8,i32,i4,HIFLOAT8,{_FLOAT8}"),
}
_INT8_TYPE = 2


def _wrong_output(request: Request, name: str) -> str | None:
    """Compare the last axis; only the 950 compares the others."""
    dims, (last,), rows = request.tensors[name].dims, request.known["H"], request.known["rows"]
    per_element = PACKED if request.types[name] == "i32" else 1
    if request.types[name] == "i4" and request.chip.family == "950" and last % 2:
        return f"y has shape {shape_text(dims)}; of INT4 its last dimension must be even"
    leading = rows if request.chip.family == "950" else dims[:-1]
    if dims and dims[-1] * per_element == last and dims[:-1] == leading:
        return None
    must = last // per_element
    return f"y has shape {shape_text(dims)}; it must end in {must}, where x ends in {last}"


def _no_row(request: Request) -> str | None:
    """Require of gamma and beta of two dimensions what CANN makes one dimension of."""
    for name in ("gamma", "beta"):
        given = request.tensors[name]
        if given is not None and len(given.dims) == 2 and given.dims[0] != 1:  # noqa: PLR2004
            return f"{name} has shape {shape_text(given.dims)}; it must be one row"
    return None


def _wrong_scale(request: Request) -> str | None:
    """Require one scale; on the 950 there may be one for each number of the last axis."""
    dims, size = request.tensors["scale"].dims, request.tensors["scale"].size
    if size == 1 or (request.chip.family == "950" and dims == request.known["H"]):
        return None
    return f"scale has shape {shape_text(dims)}; it must have one element"


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
    types=_TYPES,
    accepted_types=_ACCEPTED,
    parameters={
        "x": input("T rows* H", "The array to normalize"),
        "gamma": input("T H | 1 H", "The scale of the norm"),
        "beta": input("T H | 1 H", "The shift of the norm"),
        "scale": input(
            "S 1 | 1 1 | H",
            "The divisor of the result; of each channel on Ascend 950",
            positive=True,
        ),
        "offset": input("Z 1 | 1 1 | H", "The offset to add before rounding, of the same shape"),
        "epsilon": real(1e-6, "Added to the mean square", least=0, unchecked=True),
        "y": output("Y rows* H", "The result, quantized", packed="i32"),
    },
    checks=(
        in_graph(rule(_no_row)),
        required(),
        dtypes(),
        rank("x", "y", most=8),
        rank("scale", least=1, most=2),
        shape("gamma"),
        each(_wrong_output, "y"),
        shape("beta"),
        same_shape("offset", "scale"),
        launch(rule(_wrong_scale), rule(_no_copy)),
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
    types={"950": _TYPES["950"]},
    accepted_types={"950": _ACCEPTED["950"]},
    parameters={
        "x": input("T rows* H", "The array to normalize"),
        "gamma": input("T H | 1 H", "The scale of the norm"),
        "scale": input("S 1", "The divisor of the result", positive=True),
        "offset": input("Z 1", "The offset to add before rounding; 0 if None", optional=True),
        "beta": input("T H | 1 H", "The shift of the norm; zeros if None", optional=True),
        "epsilon": real(1e-6, "Added to the mean square", least=0, unchecked=True),
        "divMode": flag(True, "True if the scale divides; else it multiplies"),
        "outputRstd": flag(False, "True to return ``rstd``", sample=lambda _: True),
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

_GRADIENT = "T=f32 G=f32 Y={0} | T=f16 G=f32,f16 Y={0} | T=bf16 G=f32,bf16 Y={0}"
RMS_NORM_GRAD_QUANT = describe(
    "aclnnRmsNormGradQuant",
    Build.COMPOSITE,
    "Compute the gradients of ``rms_norm`` and quantize that of ``x`` by one scale: "
    "``dx = round(dx / scales_x + offset_x)``, or ``dx * scales_x``, halves to even, within int8.",
    types={"950": _GRADIENT.format("i8")},
    accepted_types={"950": _GRADIENT.format("i8,HIFLOAT8")},
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
        "divMode": flag(True, "True if the scale divides; else it multiplies"),
        "dxOut": output("Y rows* norm*", "The gradient of ``x``, quantized"),
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
