# SPDX-License-Identifier: Apache-2.0
"""Root-mean-square normalization, with either scale, and its gradient."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.facts.operators.checks import each, rank, rule, shape
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import input, output, real
from pyaclnn.facts.operators.quirks import rms_norm_grad as quirks

if TYPE_CHECKING:
    from pyaclnn.facts.operators.request import Request

__all__ = ["GEMMA_RMS_NORM", "RMS_NORM", "RMS_NORM_GRAD"]

_MIXED = "T=f32 G=f32 | T=f16 G=f32,f16 | T=bf16 G=f32,bf16"
_PLAIN = "T=f32 G=f32 | T=f16 G=f16"

_ARGUMENTS = {
    "x": input("T rows* norm*", "The array to normalize"),
    "gamma": input("G norm*", "The scale, whose axes are those that are normalized"),
    "epsilon": real(1e-6, "Added to the mean square", least=0),
    "yOut": output("T rows* norm*", "The normalized tensor"),
    "rstdOut": output("f32 rows* 1*norm", "``1 / sqrt(mean(x ** 2) + epsilon)``"),
}


def _wrong_rstd(request: Request, name: str) -> str | None:
    """Require 1 or the length of x on each axis; the number of axes is not compared."""
    x = request.tensors["x"].dims
    for axis, dim in enumerate(request.tensors[name].dims):
        allowed = {1, x[axis]} if axis < len(x) else {1}
        if dim not in allowed or dim == 0:
            return (
                f"rstdOut has {dim} elements in dimension {axis}; it must have "
                f"{' or '.join(map(str, sorted(allowed)))}"
            )
    return None


_CHECKS = (
    rank("x", "gamma", most=8),
    rank("gamma", "yOut"),
    shape("gamma", "yOut"),
    each(_wrong_rstd, "rstdOut"),
)

RMS_NORM = describe(
    "aclnnRmsNorm",
    Build.INDIVIDUAL,
    "Normalize by the root of the mean square over the trailing axes: ``x * rstd * gamma``.",
    types={"910b 910_93 950": _MIXED, "310p 910": _PLAIN},
    torch=(
        "torch.nn.functional.rms_norm: input=x normalized_shape=gamma.shape weight=gamma "
        "eps=epsilon|None:1.1920928955078125e-07"
    ),
    parameters=_ARGUMENTS,
    checks=_CHECKS,
    nonempty="norm",
    essential=True,
    in_place=True,  # llama.cpp allocates it so (ggml_op_can_inplace)
    source="CANN: ops-nn norm/rms_norm",
    shows="[0.69 0.81 0.92 1.04 1.15 1.27]",
)

GEMMA_RMS_NORM = describe(
    "aclnnGemmaRmsNorm",
    Build.INDIVIDUAL,
    "Normalize as ``rms_norm`` does, with another scale: ``x * rstd * (1 + gamma)``.",
    types={"910b 910_93": f"{_PLAIN} | T=bf16 G=bf16", "950": _MIXED},
    parameters=_ARGUMENTS,
    checks=_CHECKS,
    nonempty="norm",
    source="CANN: ops-nn norm/gemma_rms_norm",
    shows="[1.38 1.61 1.85 2.08 2.31 2.54]",
)

RMS_NORM_GRAD = describe(
    "aclnnRmsNormGrad",
    Build.INDIVIDUAL,
    "Compute the gradients of ``rms_norm``. With ``xhat = x * rstd``, ``g = dy * gamma`` and means "
    "over the axes of ``gamma``: ``dx = (g - xhat * mean(g * xhat)) * rstd``; ``dgamma`` is the "
    "sum of ``dy * xhat`` over the other axes. ``rstd`` is used as it is given.",
    types={"910b 910_93 950": _MIXED, "310p 910": _PLAIN},
    torch=(
        "torch.ops.aten._fused_rms_norm_backward: grad_out=dy input=x "
        "normalized_shape=gamma.shape rstd weight=gamma output_mask==(True,True)"
    ),
    parameters={
        "dy": input("T rows* norm*", "The gradient of ``y``"),
        "x": input("T rows* norm*", "The input of ``rms_norm``"),
        "rstd": input(
            "f32 rows~",
            "As returned by ``rms_norm``: one element for each row",
            made_by=("rms_norm", "rstd"),
        ),
        "gamma": input("G norm*", "The scale, whose axes are those that were normalized"),
        "dxOut": output("T rows* norm*", "The gradient of ``x``"),
        "dgammaOut": output("f32 norm*", "The gradient of ``gamma``"),
    },
    checks=(
        rank("x", "gamma", most=8),
        rank("gamma", "dy", "dxOut", "dgammaOut"),
        shape("dy", "dxOut"),
        each(quirks.wrong_rstd, "rstd"),
        shape("gamma", "dgammaOut"),
        rule(quirks.wrong_counts),
    ),
    # CANN itself disagrees here from chip to chip: the 950 gives NaN, others refuse.
    zeros=("rows", ("dgamma",)),
    hooks=quirks.HOOKS,
    essential=True,
    result_type="RmsNormGradients",
    source="CANN: ops-nn norm/rms_norm_grad",
    shows="[-0.01  0.1  -0.01 -0.02 -0.02 -0.02]",
)
