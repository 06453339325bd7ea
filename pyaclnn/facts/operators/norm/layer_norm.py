# SPDX-License-Identifier: Apache-2.0
"""Layer normalization and its gradients."""

from __future__ import annotations

from math import nan

from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import given, integer, lengths, mask, real, result

__all__ = ["FAST_LAYER_NORM", "LAYER_NORM", "LAYER_NORM_BACKWARD", "LAYER_NORM_WITH_IMPL_MODE"]

_MIXED = "T=f32 W=f32 | T=f16 W=f32,f16 | T=bf16 W=f32,bf16"
_PLAIN = "T=f32 W=f32 | T=f16 W=f32,f16"
_TYPES = {"910b 910_93 950": _MIXED, "310p 910 310b": _PLAIN}
_SAYS = (
    "Normalize over the trailing axes: ``(input - mean) * rstd * weight + bias``, with the biased "
    "variance. Over no elements, ``mean`` is 0 and ``rstd`` NaN."
)
_ARGUMENTS = {
    "input": given("T rows* norm*", "What is normalized"),
    "normalizedShape": lengths("norm*", "The lengths of the trailing axes to normalize over"),
    "weightOptional": given("W norm*", "The scale; ones if None", optional=True),
    "biasOptional": given("W norm*", "The shift; zeros if None", optional=True),
    "eps": real(1e-5, "Added to the variance", least=0, loose=True),
    "out": result("T rows* norm*", "The normalized tensor", loose="type"),
    "meanOutOptional": result(
        "f32 rows* 1*norm", "The mean", loose="type shape", exact_as="W", fill=0.0
    ),
    "rstdOutOptional": result(
        "f32 rows* 1*norm",
        "``1 / sqrt(variance + eps)``",
        loose="type shape",
        exact_as="W",
        fill=nan,
    ),
}
_COMPARED = (
    "input^ out^ weightOptional^ biasOptional^ meanOutOptional^ rstdOutOptional^ normalizedShape^ "
    "weightOptional# biasOptional# normalizedShape weightOptional biasOptional out"
)
_SOURCE = "CANN: ops-nn norm/layer_norm_v4"

LAYER_NORM = describe(
    "aclnnLayerNorm",
    Build.COMPOSITE,
    _SAYS,
    types=_TYPES,
    **_ARGUMENTS,
    about={"order": "ndse", "compared": _COMPARED, "essential": True, "source": _SOURCE},
)

FAST_LAYER_NORM = describe(
    "aclnnFastLayerNorm",
    Build.COMPOSITE,
    f"{_SAYS} Parameters have the dtype of ``input``.",
    types={"910b 910_93": "T=f32 W=f32 | T=f16 W=f16 | T=bf16 W=bf16"},
    **_ARGUMENTS,
    about={
        "order": "ndse",
        "compared": _COMPARED,
        "result_type": "LayerNormResult",
        "source": "CANN: ops-nn norm/fast_layer_norm",
    },
)

LAYER_NORM_WITH_IMPL_MODE = describe(
    "aclnnLayerNormWithImplMode",
    Build.COMPOSITE,
    _SAYS,
    types=_TYPES,
    **_ARGUMENTS,
    implMode=integer(
        0, "0 for high precision, 1 for high performance, 2 to keep float16", least=0, most=2
    ),
    about={
        "definition": "layer_norm",
        "order": "ndsare",
        "compared": _COMPARED,
        "result_type": "LayerNormResult",
        "refuse": lambda values: (
            ("impl_mode", "2", "0 or 1, because 'input' or a parameter is not float16")
            if values["impl_mode"] == 2 and {values["T"], values.get("W", "f16")} != {"f16"}  # noqa: PLR2004
            else None
        ),
        "source": _SOURCE,
    },
)

LAYER_NORM_BACKWARD = describe(
    "aclnnLayerNormBackward",
    Build.COMPOSITE,
    "Compute the gradients of ``layer_norm``. With ``xhat = (input - mean) * rstd``, "
    "``g = grad_out * weight`` and means over the normalized axes: "
    "``grad_input = (g - mean(g) - xhat * mean(g * xhat)) * rstd``; ``grad_weight`` and "
    "``grad_bias`` are the sums of ``grad_out * xhat`` and ``grad_out`` over the other axes, 0 "
    "over none. ``mean`` and ``rstd`` are used as they are given.",
    types={
        "910b 910_93 950": f"{_MIXED}".replace("T=", "*=f32,f16,bf16 T="),
        "310p 910": _PLAIN.replace("T=", "*=f32,f16 T="),
    },
    gradOut=given("T rows* norm*", "The gradient of ``out``"),
    input=given("T rows* norm*", "What ``layer_norm`` was given"),
    normalizedShape=lengths("norm*", "The lengths of the trailing axes that were normalized"),
    mean=given(
        "M #rows",
        "What ``layer_norm`` returned: one element for each row, in any shape",
        made_by=("layer_norm", "mean"),
    ),
    rstd=given("R =mean", "The same", made_by=("layer_norm", "rstd")),
    weightOptional=given("W norm*", "The scale; ones if None", optional=True),
    biasOptional=given("B norm*", "The shift, whose values do not matter", optional=True),
    outputMask=mask("gradInputOut gradWeightOut gradBiasOut", "Which gradients to compute"),
    gradInputOut=result("T rows* norm*", "The gradient of ``input``", loose="type"),
    gradWeightOut=result("f32/W norm*", "The gradient of ``weight``", loose="type count", fill=0.0),
    gradBiasOut=result("f32/W norm*", "The gradient of ``bias``", loose="type count", fill=0.0),
    about={
        "result_type": "LayerNormGradients",
        "essential": True,
        "listed": f"*=f32,f16,bf16 {_MIXED}".replace("| T", "| *=f32,f16,bf16 T"),
        "order": "nmdse",
        "compared": (
            "gradOut^ input^ mean^ rstd^ normalizedShape^ gradInputOut^ gradWeightOut^ "
            "gradBiasOut^ normalizedShape weightOptional biasOptional gradOut rstd mean "
            "gradInputOut gradWeightOut gradBiasOut"
        ),
        "source": "CANN: ops-nn norm/layer_norm_grad_v3",
    },
)
