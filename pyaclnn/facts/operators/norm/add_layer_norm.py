# SPDX-License-Identifier: Apache-2.0
"""Layer normalization after an addition, and its gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.checks import each, rank, shape
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import flag, input, output, real
from pyaclnn.facts.operators.request import shape_text

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["ADD_LAYER_NORM", "ADD_LAYER_NORM_GRAD"]


def _wrong_bias(request: Request, name: str) -> str | None:
    """Compare the bias on the 950, which alone does so, with ``gamma`` and ``x1``."""
    dims, wide = request.tensors[name].dims, request.tensors["x1"].dims
    narrow = request.tensors["gamma"].dims
    if request.chip.family != "950" or dims in (wide, narrow):
        return None
    has, one, other = map(shape_text, (dims, narrow, wide))
    return f"{request.c_name(name)} has shape {has}; it must have {one} or {other}"


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
    parameters={
        "x1": input("A rows* norm*", "The array to normalize, with ``x2`` and ``bias``"),
        "x2": input("B rows* norm*", "The array to add"),
        "gamma": input("G norm*", "The scale, whose axes are those that are normalized"),
        "beta": input("G norm*", "The shift"),
        "biasOptional": input(
            "S norm* | rows* norm*",
            "A further array to add, of the shape of ``gamma`` or of ``x1``; zeros if None",
            optional=True,
        ),
        "epsilon": real(1e-5, "Added to the variance", above=0, unchecked=True),
        "additionalOutput": flag(False, "True to return the sum", sample=lambda _: True),
        "yOut": output("T rows* norm*", "The normalized sum"),
        "meanOut": output(
            "f32 rows* 1*norm", "The mean; the 310P does not write it", unwritten="310p"
        ),
        "rstdOut": output(
            "f32 rows* 1*norm",
            "``1 / sqrt(variance + epsilon)``; the 310P does not write it",
            unwritten="310p",
        ),
        "xOut": output(
            "T rows* norm*",
            "The sum, if it was asked for",
            when=lambda values: values["additional_output"],
            placeholder=True,
        ),
    },
    checks=(
        rank("x1", most=8),
        rank("x2", "yOut", "xOut", "meanOut", "rstdOut"),
        rank("gamma", most=8),
        shape("x2", "yOut", "xOut", "gamma"),
        rank("beta"),
        shape("beta", "meanOut", "rstdOut"),
        each(_wrong_bias, "biasOptional"),
    ),
    nonempty="norm",
    source="CANN: ops-nn norm/add_layer_norm",
    shows="[-0.46  0.12  0.71  1.29  1.88  2.46]",
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
    parameters={
        "dy": input("T rows* norm*", "The gradient of the normalized sum"),
        "x1": input("T rows* norm*", "The array that was added"),
        "x2": input("T rows* norm*", "The array that was added"),
        "rstd": input(
            "f32 rows* 1*norm", "``1 / sqrt(variance + epsilon)`` of the sum", positive=True
        ),
        "mean": input("f32 rows* 1*norm", "The mean of the sum"),
        "gamma": input("T norm*", "The scale, whose axes are those that were normalized"),
        "dsumOptional": input(
            "T rows* norm*",
            "The gradient that the sum gets from elsewhere; zeros if None",
            optional=True,
        ),
        "dxOut": output("T rows* norm*", "The gradient of ``x1`` and of ``x2``"),
        "dgammaOut": output("f32 norm*", "The gradient of ``gamma``"),
        "dbetaOut": output("f32 norm*", "The gradient of the shift"),
    },
    checks=(
        rank("x1", "gamma", most=8),
        rank("rstd", "mean", "dgammaOut", "dbetaOut", "dy", "x2", "dxOut"),
        shape(
            "dy", "x2", "dxOut", "rstd", "mean", "gamma", "dgammaOut", "dbetaOut", "dsumOptional"
        ),
    ),
    zeros=("rows", ("dgamma", "dbeta")),
    result_type="AddLayerNormGradients",
    source="CANN: ops-nn norm/add_layer_norm_grad",
    shows="[-0.22  0.41 -0.12 -0.07 -0.02  0.03]",
)
