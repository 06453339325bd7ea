# SPDX-License-Identifier: Apache-2.0
"""Layer normalization that each sample scales and shifts in its own way, and its gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.checks import (
    Code,
    agree,
    at_launch,
    constraint,
    dtypes,
    each,
    empty,
    launch,
    rank,
    required,
    shape,
    shapes,
    text,
)
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import absent, input, lengths, output, real, string
from pyaclnn.facts.operators.request import shape_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.operators.request import Request

__all__ = [
    "ADA_LAYER_NORM",
    "ADA_LAYER_NORM_BACKWARD",
    "ADA_LAYER_NORM_QUANT",
    "ADA_LAYER_NORM_V2",
]

_SAYS = (
    "Normalize over the last axis as ``layer_norm`` does, then scale and shift the rows of each "
    "sample alike: ``((x - mean) * rstd * weight + bias) * (1 + scale) + shift``"
)
_SAME = "T=f32 W=f32 | T=f16 W=f16 | T=bf16 W=bf16"
_MIXED = "T=f32 W=f32 | T=f16 W=f16,f32 | T=bf16 W=bf16,f32"
_WIDE_FIRST = "T=f32 W=f32 | T=f16 W=f32,f16 | T=bf16 W=f32,bf16"


def _not_empty(
    values: Mapping[str, Any], name: str = "x", last: str = "H"
) -> tuple[str, str, str] | None:
    """Refuse arrays without elements, which no operator of this kind takes."""
    if 0 not in (*values["batch"], *values["S"], *values[last]):
        return None
    return name, "an array without elements", "one of some: CANN takes no empty one here"


_ARGUMENTS = {
    "x": input("T batch* S H", "The array to normalize: samples, rows of each, their elements"),
    "scale": input("T batch* H | batch* 1 H", "The scale of the rows of each sample, less 1"),
    "shift": input("T batch* H | batch* 1 H", "The shift of the rows of each sample"),
    "weightOptional": input("W H", "The scale of the norm; ones if None", optional=True),
    "biasOptional": input("W H", "The shift of the norm; zeros if None", optional=True),
}
_EPSILON = real(1e-5, "Added to the variance", above=0, unchecked=True)
_TENSORS = ("x", "scale", "shift", "weightOptional", "biasOptional")
_CHECKS = (required(), dtypes(), shapes(), constraint())

ADA_LAYER_NORM = describe(
    "aclnnAdaLayerNorm",
    Build.COMPOSITE,
    f"{_SAYS}.",
    types={"910b 910_93": _SAME},
    parameters={
        **_ARGUMENTS,
        "epsilon": _EPSILON,
        "out": output("T batch* S H", "The normalized tensor"),
    },
    checks=_CHECKS,
    constraint=_not_empty,
    source="CANN: ops-nn norm/ada_layer_norm",
    shows="[-0.61  0.03  0.68  1.32  1.97  2.61]",
)

ADA_LAYER_NORM_V2 = describe(
    "aclnnAdaLayerNormV2",
    Build.COMPOSITE,
    f"{_SAYS}, and give the statistics.",
    types={"910b 910_93 950": _MIXED},
    parameters={
        **_ARGUMENTS,
        "epsilon": _EPSILON,
        "out": output("T batch* S H", "The normalized tensor"),
        "meanOutOptional": output("T batch* S 1", "The mean of each row"),
        "rstdOutOptional": output("T batch* S 1", "``1 / sqrt(variance + epsilon)`` of each row"),
    },
    checks=_CHECKS,
    constraint=_not_empty,
    source="CANN: ops-nn norm/ada_layer_norm_v2",
    shows="[-0.61  0.03  0.68  1.32  1.97  2.61]",
)

_TO = "T=f16 W=f16 Y={0} | T=bf16 W=bf16 Y={0}"
ADA_LAYER_NORM_QUANT = describe(
    "aclnnAdaLayerNormQuant",
    Build.COMPOSITE,
    f"{_SAYS}, and quantize each row of that by its largest magnitude: with v, that times "
    "``smooth_scales``, ``factor = 127 / max(abs(v))``, ``out = round(v * factor)``, halves to "
    "even, ``quant_scale = 1 / factor``.",
    types={"910b 910_93": _TO.format("i8"), "950": _TO.format("i8,e5m2,e4m3")},
    accepted_types={"950": _TO.format("i8,HIFLOAT8,e5m2,e4m3")},
    parameters={
        **_ARGUMENTS,
        "smoothScalesOptional": input(
            "T H",
            "The factor of the row before it is quantized; ones if None",
            optional=True,
        ),
        "epsilon": _EPSILON,
        "quantMode": string(derived=lambda _: "dynamic", null=True),
        "out": output("Y batch* S H", "The normalized tensor, quantized"),
        "quantScale": output("f32 batch* S", "The quantization scale of ``out``, one for each row"),
        "quantOffsetOptional": absent(),
    },
    checks=(
        required(),
        dtypes(),
        rank(*_TENSORS, "smoothScalesOptional", "out", "quantScale", most=8),
        text("quantMode", "dynamic"),
        agree("quantOffsetOptional"),
        shape(*_TENSORS, "smoothScalesOptional", "out", "quantScale"),
        empty(),
    ),
    source="CANN: ops-nn norm/ada_layer_norm_quant",
    shows="[-30   2  33  64  96 127]",
)


def _one_axis(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    if len(values["normalized_shape"]) != 1:
        given = str(tuple(values["normalized_shape"]))
        return "normalized_shape", given, "the length of the last axis, and no other"
    return _not_empty(values, "input", "norm")


_PARAMETERS = ("weightOptional", "biasOptional")
_GRADIENTS = ("gradInputOut", "gradScaleOut", "gradShiftOut", "gradWeightOut", "gradBiasOut")
_LAUNCHED_ON = ("910b", "910_93")


def _wrong_length(request: Request, name: str) -> str | None:
    """Refuse another length at launch: the kernel would read beyond the parameter."""
    dims, expected = request.tensors[name].dims, request.known["norm"]
    if dims == expected:
        return None
    has, must = shape_text(dims), shape_text(expected)
    return f"{request.c_name(name)} has shape {has}; the kernel reads {must}"


def _is_not_launched(request: Request) -> bool:
    """Return whether the call succeeds and does nothing, as it does on chips without kernels."""
    return request.chip.family not in _LAUNCHED_ON


ADA_LAYER_NORM_BACKWARD = describe(
    "aclnnAdaLayerNormBackward",
    Build.COMPOSITE,
    "Compute the gradients of ``ada_layer_norm_v2``. With ``xhat = (input - mean) * rstd``, "
    "``d = grad_out * (1 + scale)``, ``g = d * weight`` and means over a row: "
    "``grad_input = (g - mean(g) - xhat * mean(g * xhat)) * rstd``; over the rows of a sample "
    "``grad_scale = sum(grad_out * (xhat * weight + bias))`` and ``grad_shift = sum(grad_out)``; "
    "over all rows ``grad_weight = sum(d * xhat)`` and ``grad_bias = sum(d)``. ``mean`` and "
    "``rstd`` are used as they are given.",
    types={"910b 910_93": _WIDE_FIRST},
    parameters={
        "gradOut": input("T batch* S norm*", "The gradient of ``out``"),
        "input": input("T batch* S norm*", "The input of ``ada_layer_norm_v2``"),
        "normalizedShape": lengths("norm*", "The length of the last axis"),
        "rstd": input("T batch* S 1", "As returned by ``ada_layer_norm_v2``", positive=True),
        "mean": input("T batch* S 1", "The same"),
        "scale": input("T batch* norm* | batch* 1 norm*", "The scale of the rows of each sample"),
        "shift": input("T batch* norm* | batch* 1 norm*", "The shift of these rows"),
        "weightOptional": input("W norm*", "The scale of the norm; ones if None", optional=True),
        "biasOptional": input("W norm*", "The shift of the norm; zeros if None", optional=True),
        "gradInputOut": output("T batch* S norm*", "The gradient of ``input``", optional=True),
        "gradScaleOut": output("T =scale", "The gradient of ``scale``", optional=True),
        "gradShiftOut": output("T =shift", "The gradient of ``shift``", optional=True),
        "gradWeightOut": output(
            "W norm*", "The gradient of ``weight``", optional=True, unchecked="count"
        ),
        "gradBiasOut": output(
            "W norm*", "The gradient of ``bias``", optional=True, unchecked="count"
        ),
    },
    checks=(
        required(),
        dtypes(),
        rank(
            "gradOut", "input", "rstd", "mean", "scale", "shift", *_PARAMETERS, *_GRADIENTS, most=8
        ),
        agree("normalizedShape"),
        shape("gradOut", "input", "rstd", "mean", "scale", "shift"),
        rank(*_PARAMETERS, least=1, most=1),
        shape(*_GRADIENTS),
        constraint(),
        launch(idle=_is_not_launched),
        at_launch(each(_wrong_length, *_PARAMETERS, code=Code.GRAPH)),
    ),
    constraint=_one_axis,
    result_type="AdaLayerNormGradients",
    source="CANN: ops-nn norm/ada_layer_norm_grad",
    shows="[-0.25  0.45 -0.13 -0.08 -0.02  0.03]",
)
