# SPDX-License-Identifier: Apache-2.0
"""The normalization of DeepNet, and its gradients."""

from __future__ import annotations

from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import given, real, result

__all__ = ["DEEP_NORM", "DEEP_NORM_GRAD"]

_TYPES = {"910b 910_93 950": "T=f32,f16,bf16", "310p": "T=f32,f16"}

DEEP_NORM = describe(
    "aclnnDeepNorm",
    Build.INDIVIDUAL,
    "Normalize ``h = alpha * x + gx`` over the trailing axes: ``(h - mean) * rstd * gamma + "
    "beta``, with the biased variance.",
    types=_TYPES,
    x=given("T row rows* norm*", "What is scaled and normalized; it has an axis more than gamma"),
    gx=given("T row rows* norm*", "What is added to the scaled ``x``"),
    beta=given("T norm*", "The shift"),
    gamma=given("T norm*", "The scale, whose axes are those that are normalized"),
    alpha=real(0.3, "What ``x`` is multiplied by"),
    epsilon=real(1e-6, "Added to the variance", least=0, loose=True),
    meanOut=result("f32 row rows* 1*norm", "The mean"),
    rstdOut=result("f32 row rows* 1*norm", "``1 / sqrt(variance + epsilon)``"),
    yOut=result("T row rows* norm*", "The normalized tensor"),
    about={
        "filled": "norm",
        "compared": (
            "x^ gamma^ gx# yOut# meanOut# rstdOut# beta# gx yOut rstdOut meanOut gamma beta"
        ),
        "source": "CANN: ops-nn norm/deep_norm",
    },
)

DEEP_NORM_GRAD = describe(
    "aclnnDeepNormGrad",
    Build.INDIVIDUAL,
    "Compute the gradients of ``deep_norm``. With ``xhat = (alpha * x + gx - mean) * rstd``, "
    "``g = dy * gamma`` and means over the axes of ``gamma``: "
    "``dgx = (g - mean(g) - xhat * mean(g * xhat)) * rstd``, ``dx = alpha * dgx``; ``dbeta`` and "
    "``dgamma`` are the sums of ``dy`` and ``dy * xhat`` over the other axes. ``mean`` and "
    "``rstd`` are used as they are given.",
    types=_TYPES,
    dy=given("T row rows* norm*", "The gradient of ``y``"),
    x=given("T row rows* norm*", "What ``deep_norm`` was given"),
    gx=given("T row rows* norm*", "The same"),
    gamma=given("T norm*", "The scale, whose axes are those that were normalized"),
    mean=given("f32 row rows* 1*norm", "What ``deep_norm`` returned"),
    rstd=given("f32 row rows* 1*norm", "The same", positive=True),
    alpha=real(0.3, "What ``x`` was multiplied by"),
    dxOut=result("T row rows* norm*", "The gradient of ``x``"),
    dgxOut=result("T row rows* norm*", "The gradient of ``gx``"),
    dbetaOut=result("f32 norm*", "The gradient of ``beta``"),
    dgammaOut=result("f32 norm*", "The gradient of ``gamma``"),
    about={
        "without": ("rows", ("dbeta", "dgamma")),
        "result_type": "DeepNormGradients",
        "compared": (
            "x^ gamma^ dy# gx# dxOut# dgxOut# rstd# mean# dgammaOut# dbetaOut# dy gx dxOut dgxOut "
            "rstd mean gamma dgammaOut dbetaOut"
        ),
        "source": "CANN: ops-nn norm/deep_norm_grad",
    },
)
