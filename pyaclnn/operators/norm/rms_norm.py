# SPDX-License-Identifier: Apache-2.0
"""Root-mean-square normalization: alone, after an addition, quantized, and its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.operators.description import Build, describe
from pyaclnn.operators.parameters import flag, given, integer, real, result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.operators.words import Dims

__all__ = [
    "ADD_RMS_NORM",
    "ADD_RMS_NORM_DYNAMIC_QUANT",
    "ADD_RMS_NORM_QUANT",
    "GEMMA_RMS_NORM",
    "RMS_NORM",
    "RMS_NORM_GRAD",
]

_MIXED = "T=f32 G=f32 | T=f16 G=f32,f16 | T=bf16 G=f32,bf16"
_PLAIN = "T=f32 G=f32 | T=f16 G=f16"

_ARGUMENTS = {
    "x": given("T rows* norm*", "What is normalized"),
    "gamma": given("G norm*", "The scale, whose axes are those that are normalized"),
    "epsilon": real(1e-6, "Added to the mean square", least=0),
    "yOut": result("T rows* norm*", "The normalized tensor"),
    "rstdOut": result("f32 rows* 1*norm", "``1 / sqrt(mean(x ** 2) + epsilon)``"),
}
_ABOUT = {
    "filled": "norm",
    "compared": "x^ gamma^ gamma# yOut# gamma yOut rstdOut",
    "quirks": "rms_norm",
}

RMS_NORM = describe(
    "aclnnRmsNorm",
    Build.INDIVIDUAL,
    "Normalize by the root of the mean square over the trailing axes: ``x * rstd * gamma``.",
    types={"910b 910_93 950": _MIXED, "310p 910": _PLAIN},
    **_ARGUMENTS,
    about={**_ABOUT, "essential": True, "source": "CANN: ops-nn norm/rms_norm"},
)

GEMMA_RMS_NORM = describe(
    "aclnnGemmaRmsNorm",
    Build.INDIVIDUAL,
    "Normalize as ``rms_norm`` does, with another scale: ``x * rstd * (1 + gamma)``.",
    types={"910b 910_93": f"{_PLAIN} | T=bf16 G=bf16", "950": _MIXED},
    **_ARGUMENTS,
    about={**_ABOUT, "source": "CANN: ops-nn norm/gemma_rms_norm"},
)

RMS_NORM_GRAD = describe(
    "aclnnRmsNormGrad",
    Build.INDIVIDUAL,
    "Compute the gradients of ``rms_norm``. With ``xhat = x * rstd``, ``g = dy * gamma`` and means "
    "over the axes of ``gamma``: ``dx = (g - xhat * mean(g * xhat)) * rstd``; ``dgamma`` is the "
    "sum of ``dy * xhat`` over the other axes. ``rstd`` is used as it is given.",
    types={"910b 910_93 950": _MIXED, "310p 910": _PLAIN},
    dy=given("T rows* norm*", "The gradient of ``y``"),
    x=given("T rows* norm*", "What ``rms_norm`` was given"),
    rstd=given(
        "f32 rows~",
        "What ``rms_norm`` returned: one element for each row",
        made_by=("rms_norm", "rstd"),
    ),
    gamma=given("G norm*", "The scale, whose axes are those that were normalized"),
    dxOut=result("T rows* norm*", "The gradient of ``x``"),
    dgammaOut=result("f32 norm*", "The gradient of ``gamma``"),
    about={
        "result_type": "RmsNormGradients",
        "essential": True,
        # CANN itself disagrees here from chip to chip: the 950 gives NaN, others refuse.
        "without": ("rows", ("dgamma",)),
        "compared": "x^ gamma^ gamma# dy# dxOut# dgammaOut# dy dxOut rstd gamma dgammaOut",
        "source": "CANN: ops-nn norm/rms_norm_grad",
    },
)

ADD_RMS_NORM = describe(
    "aclnnAddRmsNorm",
    Build.INDIVIDUAL,
    "Add two tensors and normalize the sum as ``rms_norm`` does: ``x = x1 + x2``, "
    "``y = x * rstd * gamma``.",
    types={"910b 910_93 950": "T=f32,f16,bf16", "310p": "T=f32,f16"},
    x1=given("T rows* norm*", "What is normalized, with ``x2``"),
    x2=given("T rows* norm*", "What is added to ``x1``"),
    gamma=given("T norm*", "The scale, whose axes are those that are normalized"),
    epsilon=real(1e-6, "Added to the mean square", least=0),
    yOut=result("T rows* norm*", "The normalized sum"),
    rstdOut=result(
        "f32 rows* 1*norm",
        "``1 / sqrt(mean(x ** 2) + epsilon)``; the 310P never writes it",
        unwritten="310p",
        exact_as="T",
    ),
    xOut=result("T rows* norm*", "The sum"),
    about={
        "filled": "norm",
        "compared": ("x1^ gamma^ gamma# yOut# x2# xOut# rstdOut# x2 yOut xOut rstdOut gamma"),
        "source": "CANN: ops-nn norm/add_rms_norm",
        # Written by hand since, with kernels that give no rstd, or not even the sum.
        "later": {
            "9.1": {
                "build": Build.COMPOSITE,
                "order": "nwdrseSA",
                "compared": "x1^ x2^ gamma^ yOut^ rstdOut^ xOut^ x2 yOut xOut gamma rstdOut",
                "idle_without": "x1 gamma",
                "quirks": "add_rms_norm_modes",
                "parameters": {
                    "gamma": {"loose": "late"},
                    "rstdOut": {"optional": True, "loose": "late"},
                    "xOut": {"optional": True},
                },
            }
        },
    },
)

_QUANTIZED = "T=f16 S=f32 Z=i32 | T=bf16 S=bf16 Z=bf16"
_QUANTIZED_LATER = f"{_QUANTIZED} | T=bf16 S=f32 Z=i32"
_ON_950 = "T=f32,f16,bf16 S=f32 Z=f32 | T=f16 S=f16 Z=f16"
_ON_310P = "T=f16 S=f32 Z=i32"
_LATE = {"loose": "late"}

ADD_RMS_NORM_QUANT = describe(
    "aclnnAddRmsNormQuant",
    Build.INDIVIDUAL,
    "Add two tensors, normalize the sum as ``rms_norm`` does, and quantize the result: "
    "``y = round(x * rstd * gamma / scales + zero_points)``, halves to even, within int8.",
    types={"910b 910_93": _QUANTIZED, "950": f"{_QUANTIZED} | {_ON_950}", "310p": _ON_310P},
    x1=given("T rows* norm*", "What is normalized, with ``x2``"),
    x2=given("T rows* norm*", "What is added to ``x1``"),
    gamma=given("T norm*", "The scale, whose axes are those that are normalized"),
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
    y1Out=result("i8 rows* norm*", "The result, quantized"),
    y2Out=result(
        "i8 rows* norm*",
        "The result, quantized by ``scales2``",
        when=lambda values: values["scales2"] is not None,
        placeholder=True,
    ),
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
                "types": {
                    "910b 910_93": _QUANTIZED_LATER,
                    "950": f"{_QUANTIZED_LATER} | {_ON_950}",
                    "310p": _ON_310P,
                },
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


def _is_smoothed_twice(values: Mapping[str, Any]) -> bool:
    return values["smooth_scale1"] is not None and values["smooth_scale2"] is not None


def _second(values: Mapping[str, Any]) -> Dims:
    """The second result, or the one element that stands for it."""
    return (*values["rows"], *values["D"]) if _is_smoothed_twice(values) else (1,)


def _second_scale(values: Mapping[str, Any]) -> Dims:
    return tuple(values["rows"]) if _is_smoothed_twice(values) else (1,)


ADD_RMS_NORM_DYNAMIC_QUANT = describe(
    "aclnnAddRmsNormDynamicQuant",
    Build.INDIVIDUAL,
    "Add two tensors, normalize the sum as ``rms_norm`` does over the last axis, and quantize each "
    "row by its largest magnitude: ``v = x * rstd * gamma * smooth_scale``, "
    "``factor = 127 / max(abs(v))``, ``y = round(v * factor)``, halves to even, "
    "``scale = 1 / factor``.",
    types={"910b 910_93 950": "T=f16,bf16"},
    x1=given("T rows* D", "What is normalized, with ``x2``"),
    x2=given("T rows* D", "What is added to ``x1``"),
    gamma=given("T D", "The scale of the norm"),
    smoothScale1Optional=given("T D", "What ``y1`` is multiplied by; ones if None", optional=True),
    smoothScale2Optional=given(
        "T D", "The same for ``y2``, which there is only with both of them", optional=True
    ),
    epsilon=real(1e-6, "Added to the mean square", least=0),
    y1Out=result("i8 rows* D", "The result, quantized"),
    y2Out=result(
        "i8",
        "The result, quantized with ``smooth_scale2``",
        when=_is_smoothed_twice,
        placeholder=True,
        infer=_second,
    ),
    xOut=result("T rows* D", "The sum"),
    scale1Out=result("f32 rows*", "What one step of ``y1`` is worth in each row"),
    scale2Out=result(
        "f32",
        "The same of ``y2``",
        when=_is_smoothed_twice,
        placeholder=True,
        infer=_second_scale,
    ),
    about={
        "refuse": lambda values: (
            ("smooth_scale2", "an array", "None, because there is no 'smooth_scale1'")
            if values["smooth_scale2"] is not None and values["smooth_scale1"] is None
            else None
        ),
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
