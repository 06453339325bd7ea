# SPDX-License-Identifier: Apache-2.0
"""Root-mean-square normalization after an addition: also in place, or with a float32 result."""

from __future__ import annotations

from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import given, real, result, updated

__all__ = ["ADD_RMS_NORM", "ADD_RMS_NORM_CAST", "INPLACE_ADD_RMS_NORM", "SUMMED"]

SUMMED = {
    "x1": given("T rows* norm*", "What is normalized, with ``x2``"),
    "x2": given("T rows* norm*", "What is added to ``x1``"),
    "gamma": given("T norm*", "The scale, whose axes are those that are normalized"),
}
"""What each operator of this kind takes, by the names of C."""

_EPSILON = real(1e-6, "Added to the mean square", least=0)

ADD_RMS_NORM = describe(
    "aclnnAddRmsNorm",
    Build.INDIVIDUAL,
    "Add two tensors and normalize the sum as ``rms_norm`` does: ``x = x1 + x2``, "
    "``y = x * rstd * gamma``.",
    types={"910b 910_93 950": "T=f32,f16,bf16", "310p": "T=f32,f16"},
    **SUMMED,
    epsilon=_EPSILON,
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

INPLACE_ADD_RMS_NORM = describe(
    "aclnnInplaceAddRmsNorm",
    Build.INDIVIDUAL,
    "Add two tensors and normalize the sum as ``rms_norm`` does, in place: ``x2`` becomes the sum "
    "``x1 + x2``, and ``x1`` that normalized, ``x2 * rstd * gamma``.",
    types={"910b 910_93 950": "T=f32,f16,bf16", "310p": "T=f32,f16"},
    x1Ref=updated("T rows* norm*", "A summand; becomes the normalized sum"),
    x2Ref=updated("T rows* norm*", "The other; becomes the sum"),
    gamma=SUMMED["gamma"],
    epsilon=_EPSILON,
    rstdOut=result(
        "f32 rows* 1*norm",
        "``1 / sqrt(mean(x2 ** 2) + epsilon)`` of the sum; the 310P never writes it",
        unwritten="310p",
        exact_as="T",
    ),
    about={
        "filled": "norm",
        "compared": "x1Ref^ gamma^ gamma# x2Ref# rstdOut# x2Ref rstdOut gamma",
        "quirks": "add_rms_norm",
        "source": "CANN: ops-nn norm/inplace_add_rms_norm",
    },
)

ADD_RMS_NORM_CAST = describe(
    "aclnnAddRmsNormCast",
    Build.INDIVIDUAL,
    "Add two tensors and normalize the sum as ``rms_norm`` does, and give it in float32 as well: "
    "``x = x1 + x2``, ``y2 = x * rstd * gamma``. On Ascend 950 ``y1`` is that before it was "
    "rounded, elsewhere after.",
    types={"910b 910_93 950": "T=f16,bf16"},
    **SUMMED,
    epsilon=_EPSILON,
    y1Out=result("f32 rows* norm*", "The normalized sum in float32", exact_as="T"),
    y2Out=result("T rows* norm*", "The normalized sum"),
    rstdOut=result(
        "f32 rows* 1*norm", "``1 / sqrt(mean(x ** 2) + epsilon)``", loose="shape", exact_as="T"
    ),
    xOut=result("T rows* norm*", "The sum"),
    about={
        "filled": "norm",
        "compared": (
            "x1^ gamma^ y1Out# y2Out# x2# xOut# gamma# rstdOut gamma x1 x2 y1Out y2Out xOut"
        ),
        "quirks": "add_rms_norm",
        "source": "CANN: ops-nn norm/add_rms_norm_cast",
    },
)
