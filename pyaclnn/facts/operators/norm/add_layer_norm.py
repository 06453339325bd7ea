# SPDX-License-Identifier: Apache-2.0
"""Layer normalization after an addition, and its gradients."""

from __future__ import annotations

from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import flag, given, real, result

__all__ = ["ADD_LAYER_NORM", "ADD_LAYER_NORM_GRAD"]

ADD_LAYER_NORM = describe(
    "aclnnAddLayerNorm",
    Build.INDIVIDUAL,
    "Add two tensors and a bias and normalize the sum over the axes of ``gamma``: "
    "``x = x1 + x2 + bias``, ``(x - mean) * rstd * gamma + beta``, with the biased variance.",
    types={
        "910b 910_93 950": "A=f32 B=f32 G=f32 S=f32 T=f32 | A=f16 B=f16 G=f16 S=f16 T=f16 | "
        "A=bf16 B=bf16 G=bf16 S=bf16 T=bf16 | A=f16 B=f16 G=f32 S=f16 T=f16 | "
        "A=bf16 B=bf16 G=f32 S=bf16 T=bf16 | A=f32 B=f16,bf16 G=f32 S=f32 T=f32 | "
        "A=f16,bf16 B=f32 G=f32 S=f32 T=f32",
        "310p": "A=f32 B=f32 G=f32 S=f32 T=f32 | A=f16 B=f16 G=f16 S=f16 T=f16",
    },
    x1=given("A rows* norm*", "What is normalized, with ``x2`` and ``bias``"),
    x2=given("B rows* norm*", "What is added to it"),
    gamma=given("G norm*", "The scale, whose axes are those that are normalized"),
    beta=given("G norm*", "The shift"),
    biasOptional=given(
        "S norm* | rows* norm*",
        "What is added as well, of the shape of ``gamma`` or of ``x1``; zeros if None",
        optional=True,
        loose="shape",
    ),
    epsilon=real(1e-5, "Added to the variance", above=0, loose=True),
    additionalOutput=flag(False, "Whether to return the sum", sample=lambda _: True),
    yOut=result("T rows* norm*", "The normalized sum"),
    meanOut=result("f32 rows* 1*norm", "The mean; the 310P does not write it", unwritten="310p"),
    rstdOut=result(
        "f32 rows* 1*norm",
        "``1 / sqrt(variance + epsilon)``; the 310P does not write it",
        unwritten="310p",
    ),
    xOut=result(
        "T rows* norm*",
        "The sum, if it was asked for",
        when=lambda values: values["additional_output"],
        placeholder=True,
    ),
    about={
        "filled": "norm",
        "compared": (
            "x1^ x2# yOut# xOut# meanOut# rstdOut# gamma^ x2 yOut xOut gamma beta# beta "
            "meanOut rstdOut biasOptional"
        ),
        "source": "CANN: ops-nn norm/add_layer_norm",
    },
)

ADD_LAYER_NORM_GRAD = describe(
    "aclnnAddLayerNormGrad",
    Build.INDIVIDUAL,
    "Compute the gradients of a layer normalization of a sum. With "
    "``xhat = (x1 + x2 - mean) * rstd``, ``g = dy * gamma`` and means over the axes of ``gamma``: "
    "``dx = (g - mean(g) - xhat * mean(g * xhat)) * rstd + dsum``, the gradient of each summand; "
    "``dgamma`` and ``dbeta`` are the sums of ``dy * xhat`` and ``dy`` over the other axes. "
    "``mean`` and ``rstd`` are used as they are given.",
    types={"910b 910_93 950": "T=f32,f16,bf16", "310p": "T=f32,f16"},
    dy=given("T rows* norm*", "The gradient of the normalized sum"),
    x1=given("T rows* norm*", "What was added"),
    x2=given("T rows* norm*", "What was added to it"),
    rstd=given("f32 rows* 1*norm", "``1 / sqrt(variance + epsilon)`` of the sum", positive=True),
    mean=given("f32 rows* 1*norm", "The mean of the sum"),
    gamma=given("T norm*", "The scale, whose axes are those that were normalized"),
    dsumOptional=given(
        "T rows* norm*",
        "The gradient that the sum gets from elsewhere; zeros if None",
        optional=True,
    ),
    dxOut=result("T rows* norm*", "The gradient of ``x1`` and of ``x2``"),
    dgammaOut=result("f32 norm*", "The gradient of ``gamma``"),
    dbetaOut=result("f32 norm*", "The gradient of the shift"),
    about={
        "result_type": "AddLayerNormGradients",
        "without": ("rows", ("dgamma", "dbeta")),
        "compared": (
            "x1^ gamma^ rstd# mean# dgammaOut# dbetaOut# dy# x2# dxOut# dy x2 dxOut rstd mean "
            "gamma dgammaOut dbetaOut dsumOptional"
        ),
        "source": "CANN: ops-nn norm/add_layer_norm_grad",
    },
)
