# SPDX-License-Identifier: Apache-2.0
"""Layer normalization that each sample scales and shifts in its own way, and its gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import absent, given, lengths, real, result, string

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ADA_LAYER_NORM",
    "ADA_LAYER_NORM_BACKWARD",
    "ADA_LAYER_NORM_QUANT",
    "ADA_LAYER_NORM_V2",
]

_SAYS = (
    "Normalize over the last axis as ``layer_norm`` does, then scale and shift the rows of each "
    "sample alike: ``((x - mean) * rstd * weight + bias) * (1 + scale) + shift``"
)
_SAME = "T=f32 W=f32 | T=f16 W=f16 | T=bf16 W=bf16"
_MIXED = "T=f32 W=f32 | T=f16 W=f16,f32 | T=bf16 W=bf16,f32"
_WIDE_FIRST = "T=f32 W=f32 | T=f16 W=f32,f16 | T=bf16 W=f32,bf16"


def _nothing(
    values: Mapping[str, Any], leader: str, last: str = "H"
) -> tuple[str, str, str] | None:
    """Say that there is nothing to normalize, which no operator of this kind takes."""
    if 0 not in (*values["batch"], *values["S"], *values[last]):
        return None
    return leader, "an array without elements", "one of some: CANN takes no empty one here"


_ARGUMENTS = {
    "x": given("T batch* S H", "What is normalized: samples, rows of each, their elements"),
    "scale": given("T batch* H | batch* 1 H", "What the rows of each sample are scaled by, but 1"),
    "shift": given("T batch* H | batch* 1 H", "What the rows of each sample are shifted by"),
    "weightOptional": given("W H", "The scale of the norm; ones if None", optional=True),
    "biasOptional": given("W H", "The shift of the norm; zeros if None", optional=True),
}
_EPSILON = real(1e-5, "Added to the variance", above=0, loose=True)
_ABOUT = {
    "order": "ndsr",
    "refuse": lambda values: _nothing(values, "x"),
}

ADA_LAYER_NORM = describe(
    "aclnnAdaLayerNorm",
    Build.COMPOSITE,
    f"{_SAYS}.",
    types={"910b 910_93": _SAME},
    **_ARGUMENTS,
    epsilon=_EPSILON,
    out=result("T batch* S H", "The normalized tensor"),
    about={**_ABOUT, "source": "CANN: ops-nn norm/ada_layer_norm"},
)

ADA_LAYER_NORM_V2 = describe(
    "aclnnAdaLayerNormV2",
    Build.COMPOSITE,
    f"{_SAYS}, and give the statistics.",
    types={"910b 910_93 950": _MIXED},
    **_ARGUMENTS,
    epsilon=_EPSILON,
    out=result("T batch* S H", "The normalized tensor"),
    meanOutOptional=result("T batch* S 1", "The mean of each row"),
    rstdOutOptional=result("T batch* S 1", "``1 / sqrt(variance + epsilon)`` of each row"),
    about={
        **_ABOUT,
        "result_type": "AdaLayerNormV2Result",
        "source": "CANN: ops-nn norm/ada_layer_norm_v2",
    },
)

ADA_LAYER_NORM_QUANT = describe(
    "aclnnAdaLayerNormQuant",
    Build.COMPOSITE,
    f"{_SAYS}, and quantize each row of that by its largest magnitude: with v, that times "
    "``smooth_scales``, ``factor = 127 / max(abs(v))``, ``out = round(v * factor)``, halves to "
    "even, ``quant_scale = 1 / factor``.",
    types={"910b 910_93 950": "T=f16 W=f16 | T=bf16 W=bf16"},
    **_ARGUMENTS,
    smoothScalesOptional=given(
        "T H", "What the row is multiplied by before it is quantized; ones if None", optional=True
    ),
    epsilon=_EPSILON,
    quantMode=string(derived=lambda _: "dynamic", null=True),
    out=result("i8 batch* S H", "The normalized tensor, quantized"),
    quantScale=result("f32 batch* S", "What one step of ``out`` is worth in each row"),
    quantOffsetOptional=absent(),
    about={
        "order": "ndse",
        "source": "CANN: ops-nn norm/ada_layer_norm_quant",
    },
)


def _one_axis(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    if len(values["normalized_shape"]) != 1:
        given = str(tuple(values["normalized_shape"]))
        return "normalized_shape", given, "the length of the last axis, and no other"
    return _nothing(values, "input", "norm")


ADA_LAYER_NORM_BACKWARD = describe(
    "aclnnAdaLayerNormBackward",
    Build.COMPOSITE,
    "Compute the gradients of ``ada_layer_norm_v2``. With ``xhat = (input - mean) * rstd``, "
    "``d = grad_out * (1 + scale)``, ``g = d * weight`` and means over a row: "
    "``grad_input = (g - mean(g) - xhat * mean(g * xhat)) * rstd``; over the rows of a sample "
    "``grad_scale = sum(grad_out * (xhat * weight + bias))`` and ``grad_shift = sum(grad_out)``; "
    "over all rows ``grad_weight = sum(d * xhat)`` and ``grad_bias = sum(d)``. ``mean`` and "
    "``rstd`` are used as they are given.",
    types={"910b 910_93": _WIDE_FIRST},
    gradOut=given("T batch* S norm*", "The gradient of ``out``"),
    input=given("T batch* S norm*", "What ``ada_layer_norm_v2`` was given"),
    normalizedShape=lengths("norm*", "The length of the last axis"),
    rstd=given("T batch* S 1", "What ``ada_layer_norm_v2`` returned", positive=True),
    mean=given("T batch* S 1", "The same"),
    scale=given("T batch* norm* | batch* 1 norm*", "What the rows of each sample were scaled by"),
    shift=given("T batch* norm* | batch* 1 norm*", "What they were shifted by"),
    weightOptional=given(
        "W norm*", "The scale of the norm; ones if None", optional=True, loose="shape"
    ),
    biasOptional=given(
        "W norm*", "The shift of the norm; zeros if None", optional=True, loose="shape"
    ),
    gradInputOut=result("T batch* S norm*", "The gradient of ``input``", optional=True),
    gradScaleOut=result("T =scale", "The gradient of ``scale``", optional=True),
    gradShiftOut=result("T =shift", "The gradient of ``shift``", optional=True),
    gradWeightOut=result("W norm*", "The gradient of ``weight``", optional=True, loose="count"),
    gradBiasOut=result("W norm*", "The gradient of ``bias``", optional=True, loose="count"),
    about={
        "order": "ndsr",
        "refuse": _one_axis,
        "result_type": "AdaLayerNormGradients",
        "source": "CANN: ops-nn norm/ada_layer_norm_grad",
    },
)
