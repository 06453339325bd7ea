# SPDX-License-Identifier: Apache-2.0
"""Group normalization followed by swish, and its gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.norm.group_norm import some_groups, undivided
from pyaclnn.facts.operators.parameters import flag, given, integer, real, result, string

if TYPE_CHECKING:
    from collections.abc import Mapping

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


_GROUPS = integer(says="Into how many groups the channels are divided", least=1, sample=some_groups)
_SCALE = real(1.0, "What multiplies the exponent")

GROUP_NORM_SWISH = describe(
    "aclnnGroupNormSwish",
    Build.INDIVIDUAL,
    "Normalize as ``group_norm`` does, then apply swish, ``y / (1 + exp(-swish_scale * y))``, if "
    "asked to.",
    types={
        "910b 910_93 950": "T=f32 G=f32 | T=f16 G=f16,f32 | T=bf16 G=bf16,f32",
    },
    x=given("T N C space*", "What is normalized: batch, channels, others"),
    gamma=given("G C", "The scale of each channel"),
    beta=given("G C", "The shift of each channel"),
    numGroups=_GROUPS,
    dataFormatOptional=string(derived=lambda _: "NCHW"),
    eps=real(1e-5, "Added to the variance", above=0, loose=True),
    activateSwish=flag(True, "Whether to apply swish"),
    swishScale=_SCALE,
    yOut=result("T N C space*", "The activated tensor", loose="shape"),
    meanOut=result("G N num_groups", "The mean of each group", loose="shape"),
    rstdOut=result("G N num_groups", "``1 / sqrt(variance + eps)`` of each group", loose="shape"),
    about={
        "compared": "x^ gamma# gamma beta# beta",
        "refuse": _over_nothing,
        "source": "CANN: ops-nn norm/group_norm_swish",
    },
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
    dy=given("T N C space*", "The gradient of ``y``"),
    mean=given(
        "T N num_groups", "What ``group_norm_swish`` returned", made_by=("group_norm_swish", "mean")
    ),
    rstd=given("T N num_groups", "The same", made_by=("group_norm_swish", "rstd")),
    x=given("T N C space*", "What ``group_norm_swish`` was given"),
    gamma=given("T C", "The scale of each channel"),
    beta=given("T C", "The shift of each channel"),
    numGroups=_GROUPS,
    dataFormatOptional=string(derived=lambda _: "NCHW"),
    swishScale=_SCALE,
    dgammaIsRequire=flag(True, "Whether to return ``dgamma``"),
    dbetaIsRequire=flag(True, "Whether to return ``dbeta``"),
    dxOut=result("T N C space*", "The gradient of ``x``", loose="shape"),
    dgammaOut=result(
        "T C",
        "The gradient of ``gamma``",
        loose="shape",
        placeholder=True,
        when=lambda values: values["dgamma_is_require"],
    ),
    dbetaOut=result(
        "T C",
        "The gradient of ``beta``",
        loose="shape",
        placeholder=True,
        when=lambda values: values["dbeta_is_require"],
    ),
    about={
        "result_type": "GroupNormSwishGradients",
        "compared": "x^ dy mean# mean rstd# rstd gamma# gamma beta# beta",
        "refuse": _too_large,
        "source": "CANN: ops-nn norm/group_norm_swish_grad",
    },
)
