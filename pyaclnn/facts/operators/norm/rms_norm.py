# SPDX-License-Identifier: Apache-2.0
"""Root-mean-square normalization, with either scale, and its gradient."""

from __future__ import annotations

from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import given, real, result

__all__ = ["GEMMA_RMS_NORM", "RMS_NORM", "RMS_NORM_GRAD"]

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
