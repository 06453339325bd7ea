# SPDX-License-Identifier: Apache-2.0
"""Layer normalization after an addition, and its gradients."""

from __future__ import annotations

from pyaclnn.operators.operator import Build, describe
from pyaclnn.operators.parameters import given, result

__all__ = ["ADD_LAYER_NORM_GRAD"]

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
        "python": "dy x1 x2 rstd mean gamma dsum",
        "result_type": "AddLayerNormGradients",
        "without": ("rows", ("dgamma", "dbeta")),
        "compared": (
            "x1^ gamma^ rstd# mean# dgammaOut# dbetaOut# dy# x2# dxOut# dy x2 dxOut rstd mean "
            "gamma dgammaOut dbetaOut dsumOptional"
        ),
        "source": "CANN: ops-nn norm/add_layer_norm_grad",
    },
)
