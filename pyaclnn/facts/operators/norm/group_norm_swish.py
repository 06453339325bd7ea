# SPDX-License-Identifier: Apache-2.0
"""Group normalization followed by swish, and its gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.checks import rank, rule, shape
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.norm.group_norm import some_groups, undivided
from pyaclnn.facts.operators.parameters import flag, input, integer, output, real, string
from pyaclnn.facts.operators.request import Hooks, shape_text
from pyaclnn.facts.operators.workspace import FLOAT_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.operators.request import Request

__all__ = ["GROUP_NORM_SWISH", "GROUP_NORM_SWISH_GRAD"]

_MOST_IN_A_GROUP = 4000


def _over_nothing(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    if values["C"] != (0,) and 0 not in values["space"]:
        return undivided(values)
    return "x", "an array of no channels or no positions", "not empty: there is no mean over it"


def _too_large(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    wrong = _over_nothing(values)
    if wrong is None and values["C"][0] > _MOST_IN_A_GROUP * values["num_groups"]:
        must = f"enough for at most {_MOST_IN_A_GROUP} channels in each of them"
        return "num_groups", str(values["num_groups"]), must
    return wrong


def _wrong_groups(request: Request) -> str | None:
    """Divide the channels as the tiling does, which takes nothing empty."""
    groups, dims = request.values["num_groups"], request.tensors["x"].dims
    if groups > 0 and dims[1] % groups:
        return f"numGroups is {groups}; it must divide the {dims[1]} channels of x"
    if 0 in dims:
        return f"x has shape {shape_text(dims)}; no dimension may be 0"
    return None


def _large_groups(request: Request) -> str | None:
    """Refuse groups of too many channels."""
    groups, (channels,) = request.values["num_groups"], request.known["C"]
    if groups > 0 and channels // groups > _MOST_IN_A_GROUP:
        return f"C is {channels} in {groups} groups; it must be at most {_MOST_IN_A_GROUP} a group"
    return None


def _scratch(request: Request) -> int:
    """Return the bytes of partial sums of the gradients of both parameters.

    Deterministic ones, which the 950 always has, for every two samples; others of 16 bits once.
    """
    (samples,), (channels,) = request.known["N"], request.known["C"]
    sums = 2 * channels * FLOAT_BYTES
    if request.deterministic or request.chip.family == "950":
        return sums * -(-samples // 2)
    return 0 if request.tensors["x"].type == "f32" else sums


_GROUPS = integer(doc="Into how many groups the channels are divided", least=1, sample=some_groups)
_SCALE = real(1.0, "The factor of the exponent")

GROUP_NORM_SWISH = describe(
    "aclnnGroupNormSwish",
    Build.INDIVIDUAL,
    "Normalize as ``group_norm`` does, then apply swish, ``y / (1 + exp(-swish_scale * y))``, if "
    "asked to.",
    types={
        "910b 910_93 950": "T=f32 G=f32 | T=f16 G=f16,f32 | T=bf16 G=bf16,f32",
    },
    torch=(
        "torch_npu.npu_group_norm_swish: input=x num_groups weight=gamma bias=beta eps swish_scale"
    ),
    parameters={
        "x": input("T N C space*", "The array to normalize: batch, channels, others"),
        "gamma": input("G C", "The scale of each channel"),
        "beta": input("G C", "The shift of each channel"),
        "numGroups": _GROUPS,
        "dataFormatOptional": string(derived=lambda _: "NCHW"),
        "eps": real(1e-5, "Added to the variance", above=0, unchecked=True),
        "activateSwish": flag(True, "True to apply swish"),
        "swishScale": _SCALE,
        "yOut": output("T N C space*", "The activated tensor", unchecked="shape"),
        "meanOut": output("G N num_groups", "The mean of each group", unchecked="shape"),
        "rstdOut": output(
            "G N num_groups", "``1 / sqrt(variance + eps)`` of each group", unchecked="shape"
        ),
    },
    checks=(
        rank("x", most=8),
        rank("gamma"),
        shape("gamma"),
        rank("beta"),
        shape("beta"),
        rule(_wrong_groups),
    ),
    constraint=_over_nothing,
    source="CANN: ops-nn norm/group_norm_swish",
    shows="[-0.1   0.73  2.01 -0.1   0.73  2.01]",
)

GROUP_NORM_SWISH_GRAD = describe(
    "aclnnGroupNormSwishGrad",
    Build.INDIVIDUAL,
    "Compute the gradients of ``group_norm_swish``. With ``xhat = (x - mean) * rstd``, "
    "``z = xhat * gamma + beta``, ``s = 1 / (1 + exp(-swish_scale * z))``, "
    "``d = dy * s * (1 + swish_scale * z * (1 - s))``, ``g = d * gamma`` and means over each "
    "group: ``dx = (g - mean(g) - xhat * mean(g * xhat)) * rstd``; ``dgamma`` and ``dbeta`` are "
    "the sums of ``d * xhat`` and ``d`` over all axes but the channels. ``mean`` and ``rstd`` are "
    "used as they are given.",
    types={"910b 910_93 950": "T=f32,f16,bf16"},
    parameters={
        "dy": input("T N C space*", "The gradient of ``y``"),
        "mean": input(
            "T N num_groups",
            "As returned by ``group_norm_swish``",
            made_by=("group_norm_swish", "mean"),
        ),
        "rstd": input("T N num_groups", "The same", made_by=("group_norm_swish", "rstd")),
        "x": input("T N C space*", "The input of ``group_norm_swish``"),
        "gamma": input("T C", "The scale of each channel"),
        "beta": input("T C", "The shift of each channel"),
        "numGroups": _GROUPS,
        "dataFormatOptional": string(derived=lambda _: "NCHW"),
        "swishScale": _SCALE,
        "dgammaIsRequire": flag(True, "True to return ``dgamma``"),
        "dbetaIsRequire": flag(True, "True to return ``dbeta``"),
        "dxOut": output("T N C space*", "The gradient of ``x``", unchecked="shape"),
        "dgammaOut": output(
            "T C",
            "The gradient of ``gamma``",
            unchecked="shape",
            placeholder=True,
            when=lambda values: values["dgamma_is_require"],
        ),
        "dbetaOut": output(
            "T C",
            "The gradient of ``beta``",
            unchecked="shape",
            placeholder=True,
            when=lambda values: values["dbeta_is_require"],
        ),
    },
    checks=(
        rank("x", most=8),
        shape("dy"),
        rank("mean"),
        shape("mean"),
        rank("rstd"),
        shape("rstd"),
        rank("gamma"),
        shape("gamma"),
        rank("beta"),
        shape("beta"),
        rule(_wrong_groups),
        rule(_large_groups),
    ),
    constraint=_too_large,
    hooks=Hooks(scratch=_scratch),
    result_type="GroupNormSwishGradients",
    source="CANN: ops-nn norm/group_norm_swish_grad",
    shows="[-0.38  0.76 -0.38  0.    0.    0.  ]",
)
