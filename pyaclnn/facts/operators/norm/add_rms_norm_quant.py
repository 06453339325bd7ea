# SPDX-License-Identifier: Apache-2.0
"""Root-mean-square normalization of a sum, quantized by given scales or those of its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.norm.add_rms_norm import SUMMED
from pyaclnn.facts.operators.parameters import flag, given, integer, mask, real, result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.operators.words import Dims

__all__ = [
    "ADD_RMS_NORM_DYNAMIC_QUANT",
    "ADD_RMS_NORM_DYNAMIC_QUANT_V2",
    "ADD_RMS_NORM_QUANT",
    "ADD_RMS_NORM_QUANT_V2",
    "wants_first",
    "wants_second",
]

_QUANTIZED = "T=f16 S=f32 Z=i32 | T=bf16 S=bf16 Z=bf16"
_ON_950 = "T=f32,f16,bf16 S=f32 Z=f32 | T=f16 S=f16 Z=f16"
_ON_310P = "T=f16 S=f32 Z=i32"
_LATER = f"{_QUANTIZED} | T=bf16 S=f32 Z=i32"
_TYPES_LATER = {"910b 910_93": _LATER, "950": f"{_LATER} | {_ON_950}", "310p": _ON_310P}
_LATE = {"loose": "late"}

_INTEGERS = {
    "y1Out": result("i8 rows* norm*", "The result, quantized"),
    "y2Out": result(
        "i8 rows* norm*",
        "The result, quantized by ``scales2``",
        when=lambda values: values["scales2"] is not None,
        placeholder=True,
    ),
}
_SUMMED_ROWS = {
    "x1": given("T rows* D", SUMMED["x1"].says),
    "x2": given("T rows* D", SUMMED["x2"].says),
    "gamma": given("T D", "The scale of the norm"),
    "smoothScale1Optional": given(
        "T D", "What ``y1`` is multiplied by; ones if None", optional=True
    ),
}

ADD_RMS_NORM_QUANT = describe(
    "aclnnAddRmsNormQuant",
    Build.INDIVIDUAL,
    "Add two tensors, normalize the sum as ``rms_norm`` does, and quantize the result: "
    "``y = round(x * rstd * gamma / scales + zero_points)``, halves to even, within int8.",
    types={"910b 910_93": _QUANTIZED, "950": f"{_QUANTIZED} | {_ON_950}", "310p": _ON_310P},
    **SUMMED,
    scales1=given("S norm*", "What ``y1`` is divided by, or multiplied", positive=True),
    scales2Optional=given(
        "S norm*",
        "The same for ``y2``, which there is only with it",
        optional=True,
        positive=True,
    ),
    zeroPoints1Optional=given("Z norm*", "What is added to ``y1`` before rounding", optional=True),
    zeroPoints2Optional=given("Z norm*", "The same for ``y2``", optional=True),
    axis=integer(derived=lambda _: -1),
    epsilon=real(1e-6, "Added to the mean square", least=0),
    divMode=flag(
        True,
        "Whether scales divide; else they multiply, for which CANN's documents name Ascend 950 "
        "alone, though the kernels of others do it too",
    ),
    **_INTEGERS,
    xOut=result("T rows* norm*", "The sum"),
    about={
        "filled": "norm",
        "refuse": lambda values: (
            ("zero_points2", "an array", "None, because there is no 'scales2'")
            if values["zero_points2"] is not None and values["scales2"] is None
            else None
        ),
        "source": "CANN: ops-nn norm/add_rms_norm_quant",
        "later": {
            "9.1": {
                "build": Build.COMPOSITE,
                "types": _TYPES_LATER,
                "order": "nreS!ds",
                "compared": (
                    "y1Out y2Out xOut x2 gamma scales1 scales2Optional zeroPoints1Optional "
                    "zeroPoints2Optional"
                ),
                "refuse": None,
                "idle_without": "x1 gamma y2Out",
                "quirks": "add_rms_norm_quant_listed",
                "parameters": dict.fromkeys(("y1Out", "y2Out", "xOut"), _LATE),
            }
        },
    },
)

ADD_RMS_NORM_QUANT_V2 = describe(
    "aclnnAddRmsNormQuantV2",
    Build.COMPOSITE,
    "Add two tensors, normalize the sum as ``rms_norm`` does, shift, and quantize the result: "
    "``y = round((x * rstd * gamma + beta) / scales + zero_points)``, halves to even, within int8.",
    types=_TYPES_LATER,
    **SUMMED,
    scales1=given("S norm* | 1", "What ``y1`` is divided by, or multiplied", positive=True),
    scales2Optional=given(
        "S norm* | 1",
        "The same for ``y2``, which there is only with it",
        optional=True,
        positive=True,
    ),
    zeroPoints1Optional=given(
        "Z norm* | 1", "What is added to ``y1`` before rounding; zeros if None", optional=True
    ),
    zeroPoints2Optional=given("Z norm* | 1", "The same for ``y2``", optional=True),
    betaOptional=given("T norm*", "The shift; zeros if None", optional=True),
    axis=integer(derived=lambda _: -1),
    epsilon=real(1e-6, "Added to the mean square", least=0, loose=True),
    divMode=flag(True, "Whether scales divide; else they multiply"),
    **_INTEGERS,
    xOut=result("T rows* norm*", "The sum", optional=True),
    rmsNormOut=result(
        "T rows* norm*",
        "``x * rstd * gamma``, where ``out`` has an array for it: Ascend 950 has it beside ``x``",
        optional=True,
        asked=True,
    ),
    about={
        "filled": "norm",
        "order": "newsd",
        "compared": (
            "x1^ x2^ gamma^ y1Out^ y2Out^ xOut^ gamma x2 y1Out y2Out xOut rmsNormOut scales1 "
            "scales2Optional zeroPoints1Optional zeroPoints2Optional betaOptional"
        ),
        "idle_without": "x1 gamma y2Out",
        "result_type": "AddRmsNormQuantV2Result",
        "source": "CANN: ops-nn norm/add_rms_norm_quant_v2",
    },
)

_FIRST, _SECOND = 0, 1


def _is_wanted(values: Mapping[str, Any], which: int) -> bool:
    chosen = values.get("output_mask")
    if chosen is not None:
        return bool(chosen[which])
    both = values["smooth_scale1"] is not None and values["smooth_scale2"] is not None
    return which == _FIRST or both


def wants_first(values: Mapping[str, Any]) -> bool:
    """Tell whether the first result is wanted.

    Args:
        values: Arguments by their Python names.
    """
    return _is_wanted(values, _FIRST)


def wants_second(values: Mapping[str, Any]) -> bool:
    """The same of the second result."""
    return _is_wanted(values, _SECOND)


def _integers(values: Mapping[str, Any]) -> Dims:
    """The second result, or the one element that stands for it."""
    return (*values["rows"], *values["D"]) if wants_second(values) else (1,)


def _steps(values: Mapping[str, Any]) -> Dims:
    return tuple(values["rows"]) if wants_second(values) else (1,)


def _wrong_smoothing(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    chosen = values.get("output_mask")
    smooth = [values[name] is not None for name in ("smooth_scale1", "smooth_scale2")]
    if chosen is None:
        if smooth == [False, True]:
            return "smooth_scale2", "an array", "None, because there is no 'smooth_scale1'"
        return None
    if len(chosen) != len(smooth):
        return "output_mask", f"of {len(chosen)} elements", "of two"
    if not any(chosen):
        return "output_mask", str(tuple(chosen)), "true of one result at least"
    for number, (is_there, wanted) in enumerate(zip(smooth, chosen, strict=True), 1):
        if is_there and not wanted:
            return f"smooth_scale{number}", "an array", "None, because 'output_mask' leaves it out"
    return None


ADD_RMS_NORM_DYNAMIC_QUANT = describe(
    "aclnnAddRmsNormDynamicQuant",
    Build.INDIVIDUAL,
    "Add two tensors, normalize the sum as ``rms_norm`` does over the last axis, and quantize each "
    "row by its largest magnitude: ``v = x * rstd * gamma * smooth_scale``, "
    "``factor = 127 / max(abs(v))``, ``y = round(v * factor)``, halves to even, "
    "``scale = 1 / factor``.",
    types={"910b 910_93 950": "T=f16,bf16"},
    **_SUMMED_ROWS,
    smoothScale2Optional=given(
        "T D", "The same for ``y2``, which there is only with both of them", optional=True
    ),
    epsilon=real(1e-6, "Added to the mean square", least=0),
    y1Out=result("i8 rows* D", "The result, quantized"),
    y2Out=result(
        "i8",
        "The result, quantized with ``smooth_scale2``",
        when=wants_second,
        placeholder=True,
        infer=_integers,
    ),
    xOut=result("T rows* D", "The sum"),
    scale1Out=result("f32 rows*", "What one step of ``y1`` is worth in each row"),
    scale2Out=result(
        "f32",
        "The same of ``y2``",
        when=wants_second,
        placeholder=True,
        infer=_steps,
    ),
    about={
        "refuse": _wrong_smoothing,
        "source": "CANN: ops-nn norm/add_rms_norm_dynamic_quant",
        "later": {
            "9.1": {
                "build": Build.COMPOSITE,
                "order": "nrteS!d",
                "refuse": None,
                "idle_without": "x1 gamma y2Out",
                "quirks": "add_rms_norm_dynamic_quant_listed",
                "parameters": dict.fromkeys(
                    ("y1Out", "y2Out", "xOut", "scale1Out", "scale2Out"), _LATE
                ),
            }
        },
    },
)

ADD_RMS_NORM_DYNAMIC_QUANT_V2 = describe(
    "aclnnAddRmsNormDynamicQuantV2",
    Build.COMPOSITE,
    "Add two tensors, normalize the sum as ``rms_norm`` does over the last axis, shift, and "
    "quantize each row by its largest magnitude: ``v = (x * rstd * gamma + beta) * smooth_scale``, "
    "``factor = 127 / max(abs(v))``, ``y = round(v * factor)``, halves to even, "
    "``scale = 1 / factor``. An ``out`` of int32 holds eight integers of 4 bits an element, the "
    "first one lowest, with 7 for 127.",
    types={"910b 910_93 950": "T=f16 Y=i8,i32 | T=bf16 Y=i8,i32"},
    **_SUMMED_ROWS,
    smoothScale2Optional=given("T D", "The same for ``y2``", optional=True),
    betaOptional=given("T D", "The shift of the norm; zeros if None", optional=True),
    epsilon=real(1e-6, "Added to the mean square", least=0, loose=True),
    outputMask=mask(
        "y1Out y2Out",
        "Which of the two to compute; None: the first, and with both smooth scales the second",
        default=None,
        null=True,
    ),
    y1Out=result("Y rows* D", "The result, quantized", when=wants_first, packed="i32"),
    y2Out=result(
        "Y",
        "The result, quantized with ``smooth_scale2``",
        when=wants_second,
        placeholder=True,
        infer=_integers,
        packed="i32",
    ),
    xOut=result("T rows* D", "The sum"),
    scale1Out=result("f32 rows*", "What one step of ``y1`` is worth in each row", when=wants_first),
    scale2Out=result("f32", "The same of ``y2``", when=wants_second, infer=_steps),
    about={
        "order": "rnedt",
        "refuse": _wrong_smoothing,
        "idle_without": "x1 x2 gamma",
        "result_type": "AddRmsNormDynamicQuantV2Result",
        "source": "CANN: ops-nn norm/add_rms_norm_dynamic_quant",
    },
)
