# SPDX-License-Identifier: Apache-2.0
"""Layer normalization and its gradients."""

from __future__ import annotations

from math import nan, prod
from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.checks import (
    Code,
    agree,
    constraint,
    dtypes,
    each,
    empty,
    launch,
    masked,
    options,
    rank,
    required,
    rule,
    shape,
)
from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import input, integer, lengths, mask, output, real
from pyaclnn.facts.operators.quirks import layer_norm as quirks, layer_norm_backward as backward
from pyaclnn.facts.operators.request import Hooks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.facts.operators.request import Request

__all__ = ["FAST_LAYER_NORM", "LAYER_NORM", "LAYER_NORM_BACKWARD", "LAYER_NORM_WITH_IMPL_MODE"]

_MIXED = "T=f32 W=f32 | T=f16 W=f32,f16 | T=bf16 W=f32,bf16"
_PLAIN = "T=f32 W=f32 | T=f16 W=f32,f16"
_TYPES = {"910b 910_93 950": _MIXED, "310p 910 310b": _PLAIN}
_SAYS = (
    "Normalize over the trailing axes: ``(input - mean) * rstd * weight + bias``, with the biased "
    "variance. Over no elements, ``mean`` is 0 and ``rstd`` NaN."
)
_ARGUMENTS = {
    "input": input("T rows* norm*", "The array to normalize"),
    "normalizedShape": lengths("norm*", "The lengths of the trailing axes to normalize over"),
    "weightOptional": input("W norm*", "The scale; ones if None", optional=True),
    "biasOptional": input("W norm*", "The shift; zeros if None", optional=True),
    "eps": real(1e-5, "Added to the variance", least=0, unchecked=True),
    "out": output("T rows* norm*", "The normalized tensor", unchecked="type"),
    "meanOutOptional": output(
        "f32 rows* 1*norm", "The mean", unchecked="type shape", exact_as="W", fill=0.0
    ),
    "rstdOutOptional": output(
        "f32 rows* 1*norm",
        "``1 / sqrt(variance + eps)``",
        unchecked="type shape",
        exact_as="W",
        fill=nan,
    ),
}
_SHAPES = (
    rank("input", "out", "weightOptional", "biasOptional", most=8),
    rank("meanOutOptional", "rstdOutOptional", "normalizedShape", most=8),
    rank("weightOptional", "biasOptional"),
    agree("normalizedShape"),
    shape("weightOptional", "biasOptional", "out"),
)
_HOOKS = Hooks(passes_null=("950",), kernel_types=quirks.kernel_types)
_SOURCE = "CANN: ops-nn norm/layer_norm_v4"

LAYER_NORM = describe(
    "aclnnLayerNorm",
    Build.COMPOSITE,
    _SAYS,
    types=_TYPES,
    torch="torch.nn.functional.layer_norm: input normalized_shape weight bias eps",
    parameters=_ARGUMENTS,
    checks=(required(), dtypes(), _SHAPES, rule(quirks.wrong_statistics), empty()),
    hooks=_HOOKS,
    essential=True,
    source=_SOURCE,
    shows="[-1.46 -0.88 -0.29  0.29  0.88  1.46]",
)

_MOST_COLUMNS = 583_705_600


def _too_long(request: Request) -> str | None:
    """Refuse rows of more elements than the kernel counts."""
    columns = prod(request.known["norm"])
    if columns <= _MOST_COLUMNS:
        return None
    return f"input has {columns} elements a row; it must have at most {_MOST_COLUMNS}"


FAST_LAYER_NORM = describe(
    "aclnnFastLayerNorm",
    Build.COMPOSITE,
    f"{_SAYS} Parameters have the dtype of ``input``.",
    types={"910b 910_93": "T=f32 W=f32 | T=f16 W=f16 | T=bf16 W=bf16"},
    parameters=_ARGUMENTS,
    checks=(required(), dtypes(), _SHAPES, empty(), launch(rule(_too_long))),
    result_type="LayerNormResult",
    source="CANN: ops-nn norm/fast_layer_norm",
    shows="[-1.46 -0.88 -0.29  0.29  0.88  1.46]",
)

_FAST_F16 = 2


def _wrong_mode(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    if values["impl_mode"] != _FAST_F16 or {values["T"], values.get("W", "f16")} == {"f16"}:
        return None
    return "impl_mode", "2", "0 or 1, because 'input' or a parameter is not float16"


LAYER_NORM_WITH_IMPL_MODE = describe(
    "aclnnLayerNormWithImplMode",
    Build.COMPOSITE,
    _SAYS,
    types=_TYPES,
    parameters={
        **_ARGUMENTS,
        "implMode": integer(
            0, "0 for high precision, 1 for high performance, 2 to keep float16", least=0, most=2
        ),
    },
    checks=(
        required(),
        dtypes(),
        _SHAPES,
        rule(quirks.wrong_statistics),
        options(),
        constraint(),
        empty(),
    ),
    constraint=_wrong_mode,
    hooks=_HOOKS,
    definition="layer_norm",
    result_type="LayerNormResult",
    source=_SOURCE,
    shows="[-1.46 -0.88 -0.29  0.29  0.88  1.46]",
)

_GRADIENTS = ("gradInputOut", "gradWeightOut", "gradBiasOut")

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
    torch=(
        "torch.ops.aten.native_layer_norm_backward: grad_out input normalized_shape mean rstd "
        "weight bias output_mask"
    ),
    parameters={
        "gradOut": input("T rows* norm*", "The gradient of ``out``"),
        "input": input("T rows* norm*", "The input of ``layer_norm``"),
        "normalizedShape": lengths(
            "norm*", "The lengths of the trailing axes that were normalized"
        ),
        "mean": input(
            "M #rows",
            "As returned by ``layer_norm``: one element for each row, in any shape",
            made_by=("layer_norm", "mean"),
        ),
        "rstd": input("R =mean", "The same", made_by=("layer_norm", "rstd")),
        "weightOptional": input("W norm*", "The scale; ones if None", optional=True),
        "biasOptional": input(
            "B norm*", "The shift, whose values do not matter", optional=True, ignored=True
        ),
        "outputMask": mask("gradInputOut gradWeightOut gradBiasOut", "Which gradients to compute"),
        "gradInputOut": output("T rows* norm*", "The gradient of ``input``", unchecked="type"),
        "gradWeightOut": output(
            "f32/W norm*", "The gradient of ``weight``", unchecked="type count", fill=0.0
        ),
        "gradBiasOut": output(
            "f32/W norm*", "The gradient of ``bias``", unchecked="type count", fill=0.0
        ),
    },
    checks=(
        required(),
        masked(),
        dtypes(),
        rank("gradOut", "input", "mean", "rstd", "normalizedShape", *_GRADIENTS, most=8),
        each(backward.wrong_normalized_shape, "normalizedShape"),
        each(backward.wrong_parameter, "weightOptional", "biasOptional"),
        shape("gradOut", "rstd", "mean", *_GRADIENTS),
        empty(),
        launch(late=(rule(backward.failure, Code.GRAPH),)),
    ),
    accepted_types={"*": f"*=f32,f16,bf16 {_MIXED}".replace("| T", "| *=f32,f16,bf16 T")},
    hooks=Hooks(unwritten=backward.unwritten, scratch=backward.scratch),
    essential=True,
    result_type="LayerNormGradients",
    source="CANN: ops-nn norm/layer_norm_grad_v3",
    shows="[-0.22  0.41 -0.12 -0.07 -0.02  0.03]",
)
