# SPDX-License-Identifier: Apache-2.0
"""The normalization of DeepNet, and its gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.checks import each, rank, shape
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import input, output, real
from pyaclnn.facts.operators.request import shape_text

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["DEEP_NORM", "DEEP_NORM_GRAD"]

_TYPES = {"910b 910_93 950": "T=f32,f16,bf16", "310p": "T=f32,f16"}


def _wrong_statistic(request: Request, name: str) -> str | None:
    """Compare the leading axes; only the 950 compares those behind them."""
    dims, known = request.tensors[name].dims, request.known
    lead = (*known["row"], *known["rows"])
    expected = (*lead, *(1 for _ in known["norm"]))
    many = len(dims) if request.chip.family == "950" else len(lead)
    if dims[:many] == expected[:many] and 0 not in dims:
        return None
    has, must = shape_text(dims), shape_text(expected)
    return f"{request.c_name(name)} has shape {has}; it must have {must}"


DEEP_NORM = describe(
    "aclnnDeepNorm",
    Build.INDIVIDUAL,
    "Normalize ``h = alpha * x + gx`` over the trailing axes: ``(h - mean) * rstd * gamma + "
    "beta``, with the biased variance.",
    types=_TYPES,
    parameters={
        "x": input(
            "T row rows* norm*", "The array to scale and normalize; it has an axis more than gamma"
        ),
        "gx": input("T row rows* norm*", "The array to add to the scaled ``x``"),
        "beta": input("T norm*", "The shift"),
        "gamma": input("T norm*", "The scale, whose axes are those that are normalized"),
        "alpha": real(0.3, "The factor of ``x``"),
        "epsilon": real(1e-6, "Added to the variance", least=0, unchecked=True),
        "meanOut": output("f32 row rows* 1*norm", "The mean"),
        "rstdOut": output("f32 row rows* 1*norm", "``1 / sqrt(variance + epsilon)``"),
        "yOut": output("T row rows* norm*", "The normalized tensor"),
    },
    checks=(
        rank("x", "gamma", most=8),
        rank("gx", "yOut", "meanOut", "rstdOut", "beta"),
        shape("gx", "yOut"),
        each(_wrong_statistic, "rstdOut", "meanOut"),
        shape("gamma", "beta"),
    ),
    nonempty="norm",
    source="CANN: ops-nn norm/deep_norm",
    shows="[3.55]",
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
    parameters={
        "dy": input("T row rows* norm*", "The gradient of ``y``"),
        "x": input("T row rows* norm*", "The input of ``deep_norm``"),
        "gx": input("T row rows* norm*", "The same"),
        "gamma": input("T norm*", "The scale, whose axes are those that were normalized"),
        "mean": input("f32 row rows* 1*norm", "As returned by ``deep_norm``"),
        "rstd": input("f32 row rows* 1*norm", "The same", positive=True),
        "alpha": real(0.3, "The factor of ``x``"),
        "dxOut": output("T row rows* norm*", "The gradient of ``x``"),
        "dgxOut": output("T row rows* norm*", "The gradient of ``gx``"),
        "dbetaOut": output("f32 norm*", "The gradient of ``beta``"),
        "dgammaOut": output("f32 norm*", "The gradient of ``gamma``"),
    },
    checks=(
        rank("x", "gamma", most=8),
        rank("dy", "gx", "dxOut", "dgxOut", "rstd", "mean", "dgammaOut", "dbetaOut"),
        shape("dy", "gx", "dxOut", "dgxOut", "rstd", "mean", "gamma", "dgammaOut", "dbetaOut"),
    ),
    zeros=("rows", ("dbeta", "dgamma")),
    result_type="DeepNormGradients",
    source="CANN: ops-nn norm/deep_norm_grad",
    shows="[-0.22  0.41 -0.12 -0.07 -0.02  0.03]",
)
