# SPDX-License-Identifier: Apache-2.0
"""Layer normalization that gives integers: alone, and after an addition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.checks import (
    agree,
    chips,
    constraint,
    dtypes,
    empty,
    launch,
    one_element,
    options,
    rank,
    required,
    rule,
    same_shape,
    shape,
    shapes,
)
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import absent, flag, input, integer, output, real, string
from pyaclnn.facts.operators.request import shape_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.operators.request import Request
    from pyaclnn.facts.operators.words import Dims

__all__ = ["ADD_LAYER_NORM_QUANT", "ADD_LAYER_NORM_QUANT_V2", "LAYER_NORM_QUANT"]

_EPSILON = real(1e-5, "Added to the variance", above=0, unchecked=True)

LAYER_NORM_QUANT = describe(
    "aclnnLayerNormQuant",
    Build.COMPOSITE,
    "Normalize over the last axis as ``layer_norm`` does and quantize by one scale: "
    "``round(((x - mean) * rstd * gamma + beta) / scale + zero_points)``, halves to even, within "
    "int8.",
    types={
        "910b 910_93": "T=f16,bf16",
        "950": "T=f32,f16,bf16",
        "310p": "T=f16",
    },
    parameters={
        "x": input("T rows* H", "The array to normalize"),
        "gammma": input("T H | 1 H", "The scale of the norm", name="gamma"),
        "beta": input("T H | 1 H", "The shift of the norm"),
        "scale": input("T 1", "The divisor of the result", positive=True),
        "zeroPointsOptional": input("i8 1", "The offset to add before rounding"),
        "quantMode": integer(derived=lambda _: 0),
        "epsilon": _EPSILON,
        "res": output("i8 rows* H", "The result, quantized"),
        "scaleOut": absent(),
    },
    checks=(
        required("zeroPointsOptional"),
        dtypes(),
        rank("x", "gammma", "beta", "scale", "zeroPointsOptional", "res", most=8),
        agree("quantMode"),
        shape("x", "gammma", "beta", "scale"),
        rank("zeroPointsOptional", least=1, most=1),
        shape("res"),
        empty(),
        launch(one_element("zeroPointsOptional")),
    ),
    source="CANN: ops-nn norm/layer_norm_quant",
    shows="[-4  2  8 14 20 26]",
)

_ADDED = (
    "Add two tensors and a bias, normalize the sum as ``layer_norm`` does, and quantize that: "
    "``x = x1 + x2 + bias``, ``v = (x - mean) * rstd * gamma + beta``"
)
_STATIC = "``y = round(v / scales + zero_points)``"
_DYNAMIC = (
    "dynamically, each row by its largest magnitude, ``factor = 127 / max(abs(v * scales))``, "
    "``y = round(v * scales * factor)``, ``out_scales = 1 / factor``"
)
_MIXED = "T=f32 S=f32,f16,bf16 | T=f16 S=f16,f32,bf16 | T=bf16 S=bf16,f32,f16"
_PLAIN = "T=f32 S=f32,f16 | T=f16 S=f16,f32"


def _is_dynamic(values: Mapping[str, Any]) -> bool:
    return str(values["quant_mode"]).startswith("dynamic")


def _is_second(values: Mapping[str, Any]) -> bool:
    return values["scales2"] is not None


def _is_second_dynamic(values: Mapping[str, Any]) -> bool:
    return _is_dynamic(values) and _is_second(values)


def _rows(values: Mapping[str, Any]) -> Dims:
    """Return the shape of the step sizes: one for each row, or one placeholder element."""
    return tuple(values["rows"]) if _is_dynamic(values) else (1,)


def _wrong_dynamic(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Return an argument that dynamic quantization refuses, its value and what it must be."""
    if values["T"] == "f32":
        return "x1", "float32", "float16 or bfloat16, as quantization is dynamic"
    if values.get("S", values["T"]) != values["T"]:
        return "scales1", "of another type", "of the type of 'x1', as quantization is dynamic"
    if len(values.get("norm", "H")) != 1 or not values["rows"]:
        return "gamma", "of several axes", "of the last axis of two or more, as it is dynamic"
    for name in ("zero_points1", "zero_points2"):
        if values.get(name) is not None:
            return name, "an array", "None: dynamic quantization has no zero points"
    if values.get("scales2") is not None and values["scales1"] is None:
        return "scales2", "an array", "None, because there is no 'scales1'"
    return None


def _wrong_static(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Scales and zero points that do not go together."""
    if values["scales1"] is None:
        return "scales1", "None", "an array: static quantization needs it"
    first, second = (values.get(name) is not None for name in ("zero_points1", "zero_points2"))
    if values.get("scales2") is None and second:
        return "zero_points2", "an array", "None, because there is no 'scales2'"
    if values.get("scales2") is not None and first is not second:
        name = "zero_points1" if first else "zero_points2"
        return name, "an array", "None, or both zero points arrays, as there are two scales"
    return None


def _wrong_together(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    return (_wrong_dynamic if _is_dynamic(values) else _wrong_static)(values)


def _wrong_mode(request: Request) -> str | None:
    """Refuse dynamic quantization where only the 950 finds scales itself."""
    mode = request.values["quant_mode"]
    if request.chip.family == "950" or mode.startswith("static"):
        return None
    return f"quantMode is {mode!r}; on {request.chip.soc_name} it must be 'static'"


def _wrong_beside_gamma(request: Request) -> str | None:
    """Require one scale beside a gamma of two axes, and its shape beside one of one axis."""
    gamma = request.tensors["gamma"].dims
    wanted = (1,) if len(gamma) > 1 else gamma
    for name in ("beta", "scales1", "zero_points1"):
        given = request.tensors[name]
        expected = gamma if name == "beta" else wanted
        if given is not None and given.dims != expected:
            has, must = shape_text(given.dims), shape_text(expected)
            return f"{request.c_name(name)} has shape {has}; with this gamma it must be {must}"
    return None


_MODE = string("static", "How the scales are found", choices=("static", "dynamic"))
_SOURCE = "CANN: ops-nn norm/add_layer_norm_quant"
_STEPS = output(
    "f32",
    "The quantization scale of ``y1``, one for each row, if dynamic",
    when=_is_dynamic,
    placeholder=True,
    infer=_rows,
)

ADD_LAYER_NORM_QUANT = describe(
    "aclnnAddLayerNormQuant",
    Build.COMPOSITE,
    f"{_ADDED}; statically, {_STATIC}, or ``v * scales``; {_DYNAMIC}. Halves go to even, and all "
    "stays within int8.",
    types={"950": _MIXED},
    parameters={
        "x1": input("T rows* norm*", "The array to normalize, with ``x2`` and ``bias``"),
        "x2": input("T rows* norm*", "The array to add"),
        "gamma": input("T norm*", "The scale, whose axes are those that are normalized"),
        "beta": input("T norm*", "The shift"),
        "biasOptional": input(
            "T norm* | rows* norm*", "A further array to add; zeros if None", optional=True
        ),
        "scales1Optional": input(
            "S norm*",
            "The divisor or factor; without it ``v`` is quantized as it is, dynamically",
            optional=True,
            positive=True,
        ),
        "scales2Optional": input(
            "S norm*",
            "The same for ``y2``, which there is only with it",
            optional=True,
            positive=True,
        ),
        "zeroPoints1Optional": input(
            "S norm*", "The offset to add before rounding; zeros if None", optional=True
        ),
        "zeroPoints2Optional": input("S norm*", "The same for ``y2``", optional=True),
        "quantMode": _MODE,
        "epsilon": _EPSILON,
        "additionalOutput": flag(False, "True to return the sum", sample=lambda _: True),
        "divMode": flag(True, "True if static scales divide; else they multiply"),
        "y1Out": output("i8 rows* norm*", "The result, quantized"),
        "y2Out": output(
            "i8 rows* norm*",
            "The result, quantized by ``scales2``",
            when=_is_second,
            placeholder=True,
        ),
        "xOut": output(
            "T rows* norm*",
            "The sum, if it was asked for",
            when=lambda values: values["additional_output"],
            placeholder=True,
        ),
        "outScales1Out": _STEPS,
        "outScales2Out": output(
            "f32",
            "The same of ``y2``",
            when=_is_second_dynamic,
            placeholder=True,
            infer=_rows,
        ),
    },
    checks=(
        chips(),
        required(),
        options(),
        dtypes(),
        shapes(),
        same_shape("xOut", "x1"),  # also where the sum is not wanted
        constraint(),
        empty("outScales1Out"),
    ),
    constraint=_wrong_together,
    nonempty="norm",
    source=_SOURCE,
    shows="[-5  1  7 13 19 25]",
)


ADD_LAYER_NORM_QUANT_V2 = describe(
    "aclnnAddLayerNormQuantV2",
    Build.COMPOSITE,
    f"{_ADDED}; {_STATIC}, and v is given too. On Ascend 950 scales can multiply and be found "
    f"{_DYNAMIC}; v is not given there. Halves go to even, and all stays within int8.",
    types={"910b 910_93 950": _MIXED, "310p": _PLAIN},
    parameters={
        "x1": input("T rows* H", "The array to normalize, with ``x2`` and ``bias``"),
        "x2": input("T rows* H", "The array to add"),
        "gamma": input(
            "T 1 H | H", "The scale of the norm, of two axes if there is one of ``scales1``"
        ),
        "beta": input("T 1 H | H", "The shift, like it"),
        "biasOptional": input(
            "T H | 1 H | rows* H", "A further array to add; zeros if None", optional=True
        ),
        "scales1Optional": input(
            "S 1 | H",
            "The divisor or factor: one number, or one for each element of a row",
            optional=True,
            positive=True,
        ),
        "scales2Optional": absent(),
        "zeroPoints1Optional": input(
            "S 1 | H",
            "The offset to add before rounding, like ``scales1``; zeros if None",
            optional=True,
        ),
        "zeroPoints2Optional": absent(),
        "quantMode": _MODE,
        "epsilon": _EPSILON,
        "additionalOutput": flag(False, "True to return the sum"),
        "divMode": flag(
            False, "On Ascend 950, whether scales divide, or else multiply; others always divide"
        ),
        "y1Out": output("i8 rows* H", "The result, quantized"),
        "y2Out": output("i8 rows* H", "Never there", when=lambda _: False, placeholder=True),
        "xOut": output(
            "T rows* H",
            "The sum, if it was asked for",
            when=lambda values: values["additional_output"],
            placeholder=True,
        ),
        "layernormRes": output("T rows* H", "v; the 950 does not write it", unwritten="950"),
        "outScales1Out": _STEPS,
        "outScales2Out": output(
            "f32", "Never there", when=lambda _: False, placeholder=True, infer=lambda _: (1,)
        ),
    },
    checks=(
        required(),
        options(),
        dtypes(),
        shapes(),
        rule(_wrong_beside_gamma),
        same_shape("xOut", "x1"),  # also where the sum is not wanted
        rule(_wrong_mode),
        constraint(),
    ),
    constraint=_wrong_together,
    result_type="AddLayerNormQuantV2Result",
    source=_SOURCE,
    shows="[-5  1  7 13 19 25]",
)
