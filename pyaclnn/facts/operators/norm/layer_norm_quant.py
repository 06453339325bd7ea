# SPDX-License-Identifier: Apache-2.0
"""Layer normalization that gives integers: alone, and after an addition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import absent, flag, given, integer, real, result, string

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.operators.words import Dims

__all__ = ["ADD_LAYER_NORM_QUANT", "ADD_LAYER_NORM_QUANT_V2", "LAYER_NORM_QUANT"]

_EPSILON = real(1e-5, "Added to the variance", above=0, loose=True)

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
    x=given("T rows* H", "What is normalized"),
    gammma=given("T H | 1 H", "The scale of the norm", name="gamma"),
    beta=given("T H | 1 H", "The shift of the norm"),
    scale=given("T 1", "What the result is divided by", positive=True),
    zeroPointsOptional=given("i8 1", "What is added before rounding"),
    quantMode=integer(derived=lambda _: 0),
    epsilon=_EPSILON,
    res=result("i8 rows* H", "The result, quantized"),
    scaleOut=absent(),
    about={
        "order": "ndse",
        "needed": "zeroPointsOptional",
        "source": "CANN: ops-nn norm/layer_norm_quant",
    },
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
    """What one step is worth in each row, or the one element that stands for it."""
    return tuple(values["rows"]) if _is_dynamic(values) else (1,)


def _wrong_dynamic(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """What dynamic quantization does not take."""
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


_MODE = string("static", "How the scales are found", choices=("static", "dynamic"))
_SOURCE = "CANN: ops-nn norm/add_layer_norm_quant"
_STEPS = result(
    "f32",
    "What one step of ``y1`` is worth in each row, if dynamic",
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
    x1=given("T rows* norm*", "What is normalized, with ``x2`` and ``bias``"),
    x2=given("T rows* norm*", "What is added to it"),
    gamma=given("T norm*", "The scale, whose axes are those that are normalized"),
    beta=given("T norm*", "The shift"),
    biasOptional=given(
        "T norm* | rows* norm*", "What is added as well; zeros if None", optional=True
    ),
    scales1Optional=given(
        "S norm*",
        "What divides or multiplies; without it ``v`` is quantized as it is, dynamically",
        optional=True,
        positive=True,
    ),
    scales2Optional=given(
        "S norm*",
        "The same for ``y2``, which there is only with it",
        optional=True,
        positive=True,
    ),
    zeroPoints1Optional=given(
        "S norm*", "What is added before rounding; zeros if None", optional=True
    ),
    zeroPoints2Optional=given("S norm*", "The same for ``y2``", optional=True),
    quantMode=_MODE,
    epsilon=_EPSILON,
    additionalOutput=flag(False, "Whether to return the sum", sample=lambda _: True),
    divMode=flag(True, "Whether static scales divide; else they multiply"),
    y1Out=result("i8 rows* norm*", "The result, quantized"),
    y2Out=result(
        "i8 rows* norm*",
        "The result, quantized by ``scales2``",
        when=_is_second,
        placeholder=True,
    ),
    xOut=result(
        "T rows* norm*",
        "The sum, if it was asked for",
        when=lambda values: values["additional_output"],
        placeholder=True,
    ),
    outScales1Out=_STEPS,
    outScales2Out=result(
        "f32",
        "The same of ``y2``",
        when=_is_second_dynamic,
        placeholder=True,
        infer=_rows,
    ),
    about={
        "filled": "norm",
        "order": "cnadsre",
        "idle_without": "outScales1Out",
        "refuse": _wrong_together,
        "source": _SOURCE,
    },
)


ADD_LAYER_NORM_QUANT_V2 = describe(
    "aclnnAddLayerNormQuantV2",
    Build.COMPOSITE,
    f"{_ADDED}; {_STATIC}, and v is given too. On Ascend 950 scales can multiply and be found "
    f"{_DYNAMIC}; v is not given there. Halves go to even, and all stays within int8.",
    types={"910b 910_93 950": _MIXED, "310p": _PLAIN},
    x1=given("T rows* H", "What is normalized, with ``x2`` and ``bias``"),
    x2=given("T rows* H", "What is added to it"),
    gamma=given("T 1 H | H", "The scale of the norm, of two axes if there is one of ``scales1``"),
    beta=given("T 1 H | H", "The shift, like it"),
    biasOptional=given(
        "T H | 1 H | rows* H", "What is added as well; zeros if None", optional=True
    ),
    scales1Optional=given(
        "S 1 | H",
        "What divides or multiplies: one number, or one for each element of a row",
        optional=True,
        positive=True,
    ),
    scales2Optional=absent(),
    zeroPoints1Optional=given(
        "S 1 | H", "What is added before rounding, like ``scales1``; zeros if None", optional=True
    ),
    zeroPoints2Optional=absent(),
    quantMode=_MODE,
    epsilon=_EPSILON,
    additionalOutput=flag(False, "Whether to return the sum"),
    divMode=flag(
        False, "On Ascend 950, whether scales divide, or else multiply; others always divide"
    ),
    y1Out=result("i8 rows* H", "The result, quantized"),
    y2Out=result("i8 rows* H", "Never there", when=lambda _: False, placeholder=True),
    xOut=result(
        "T rows* H",
        "The sum, if it was asked for",
        when=lambda values: values["additional_output"],
        placeholder=True,
    ),
    layernormRes=result("T rows* H", "v; the 950 does not write it", unwritten="950"),
    outScales1Out=_STEPS,
    outScales2Out=result(
        "f32", "Never there", when=lambda _: False, placeholder=True, infer=lambda _: (1,)
    ),
    about={
        "order": "nadsr",
        "refuse": _wrong_together,
        "result_type": "AddLayerNormQuantV2Result",
        "source": _SOURCE,
    },
)
