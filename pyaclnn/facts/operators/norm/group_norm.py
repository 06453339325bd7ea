# SPDX-License-Identifier: Apache-2.0
"""Group normalization, alone and with an activation behind it."""

from __future__ import annotations

from math import nan, prod
from typing import TYPE_CHECKING, Any

from pyaclnn.facts.operators.description import Build, describe
from pyaclnn.facts.operators.parameters import flag, given, integer, mask, real, result

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "GROUP_NORM",
    "GROUP_NORM_BACKWARD",
    "GROUP_NORM_SILU",
    "GROUP_NORM_SILU_QUANT",
    "GROUP_NORM_SILU_V2",
    "some_groups",
    "undivided",
]

_LONG = 4096


def some_groups(values: Mapping[str, Any]) -> int:
    """Two groups, or one of an odd number of channels; more where a group would be very long.

    Args:
        values: The lengths that are known.
    """
    (channels,) = values["C"]
    divisors = (n for n in range(1, channels + 1) if channels % n == 0)
    return next((n for n in divisors if channels // n <= _LONG and (n > 1 or channels % 2)), 1)


def undivided(values: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """Say that the channels are not divided by the number of groups, or None.

    Args:
        values: Lengths and options by their Python names.
    """
    name = "num_groups" if "num_groups" in values else "group"
    if values["C"][0] % values[name] == 0:
        return None
    must = f"a divisor of {values['C'][0]}, the number of channels"
    return name, str(values[name]), must


_SIZES = {
    "N": integer(derived=lambda known: known["N"][0]),
    "C": integer(derived=lambda known: known["C"][0]),
    "HxW": integer(derived=lambda known: prod(known["space"])),
    "group": integer(
        says="Into how many groups the channels are divided",
        name="num_groups",
        least=1,
        sample=some_groups,
    ),
}

GROUP_NORM = describe(
    "aclnnGroupNorm",
    Build.COMPOSITE,
    "Normalize the channels of each group together, ``(input - mean) * rstd``, then scale and "
    "shift each channel. Over no elements, ``mean`` is 0 and ``rstd`` NaN.",
    types={"910b 910_93 950": "T=f32,f16,bf16", "310p 910": "T=f32,f16"},
    self=given("T N C space*", "What is normalized: batch, channels and other axes", name="input"),
    gamma=given("T C", "The scale of each channel; ones if None", name="weight", optional=True),
    beta=given("T C", "The shift of each channel; zeros if None", name="bias", optional=True),
    **_SIZES,
    eps=real(1e-5, "Added to the variance", above=0),
    out=result("T N C space*", "The normalized tensor"),
    meanOut=result("T N num_groups", "The mean of each group", fill=0.0),
    rstdOut=result("T N num_groups", "``1 / sqrt(variance + eps)`` of each group", fill=nan),
    about={
        "order": "ndarsfe",
        "barred": "NHWC HWCN NDHWC",
        "compared": ("self^ out^ out meanOut rstdOut N C HxW gamma beta"),
        "refuse": undivided,
        "source": "CANN: ops-nn norm/group_norm",
    },
)

GROUP_NORM_BACKWARD = describe(
    "aclnnGroupNormBackward",
    Build.COMPOSITE,
    "Compute the gradients of ``group_norm``. With ``xhat = (input - mean) * rstd``, "
    "``g = grad_out * weight`` and means over each group: "
    "``grad_input = (g - mean(g) - xhat * mean(g * xhat)) * rstd``; ``grad_weight`` and "
    "``grad_bias`` are the sums of ``grad_out * xhat`` and ``grad_out`` over all axes but the "
    "channels, 0 over none. ``mean`` and ``rstd`` are used as they are given.",
    types={
        "910b 910_93": "T=f32 G=f32 | T=f16 G=f16 | T=bf16 G=bf16",
        "950": "T=f32 G=f32 | T=f16 G=f16,f32 | T=bf16 G=bf16,f32",
        "910": "T=f32 G=f32 | T=f16 G=f16",
    },
    gradOut=given("T N C space*", "The gradient of ``out``", loose="count"),
    input=given("T N C space*", "What ``group_norm`` was given", loose="count"),
    mean=given(
        "G N num_groups",
        "What ``group_norm`` returned",
        loose="count",
        made_by=("group_norm", "mean"),
    ),
    rstd=given("G N num_groups", "The same", loose="count", made_by=("group_norm", "rstd")),
    gamma=given(
        "G C",
        "The scale of each channel; ones if None",
        name="weight",
        optional=True,
        loose="count",
    ),
    **_SIZES,
    outputMask=mask("gradInput gradGammaOut gradBetaOut", "Which gradients to compute"),
    gradInput=result("T N C space*", "The gradient of ``input``"),
    gradGammaOut=result("G C", "The gradient of ``weight``", name="grad_weight"),
    gradBetaOut=result("G C", "The gradient of the shift", name="grad_bias"),
    about={
        "result_type": "GroupNormGradients",
        "order": "nmdarse",
        "null_is_invalid": "outputMask gradInput gradGammaOut gradBetaOut",
        "without": ("N space", ("grad_weight", "grad_bias")),
        "compared": (
            "gradOut^ N C HxW gradOut input mean rstd gamma gradInput gradGammaOut gradBetaOut"
        ),
        "refuse": undivided,
        "source": "CANN: ops-nn norm/group_norm_grad",
    },
)

_SILU_TYPES = {
    "910b 910_93": "T=f32 G=f32 S=f32 | T=f16 G=f16,f32 S=f16 | T=bf16 G=bf16,f32 S=bf16",
    "950": "T=f32 G=f32 S=f32 | T=f16 G=f16 S=f16 | T=f16 G=f32 S=f32 | T=bf16 G=bf16 S=bf16 | "
    "T=bf16 G=f32 S=f32",
    "310p": "T=f32 G=f32 S=f32 | T=f16 G=f16,f32 S=f16",
}
_SILU = "``x / (1 + exp(-x))``"
_SILU_ARGUMENTS = {
    "self": given("T N C space*", "What is normalized: batch, channels, others", name="input"),
    "gamma": given("G C", "The scale of each channel; ones if None", optional=True),
    "beta": given("G C", "The shift of each channel; zeros if None", optional=True),
    "group": integer(
        says="Into how many groups the channels are divided", least=1, sample=some_groups
    ),
    "eps": real(1e-5, "Added to the variance", above=0),
}
_SILU_RESULTS = {
    "out": result("T N C space*", "The activated tensor"),
    "meanOut": result("S N group", "The mean of each group", fill=0.0),
    "rstdOut": result("S N group", "``1 / sqrt(variance + eps)`` of each group", fill=nan),
}
_SILU_ABOUT = {
    "order": "ndsare",
    "compared": "self^ out^ out meanOut rstdOut gamma beta",
    "refuse": undivided,
    "quirks": "group_norm_silu",
    "source": "CANN: ops-nn norm/group_norm_silu",
}

GROUP_NORM_SILU = describe(
    "aclnnGroupNormSilu",
    Build.COMPOSITE,
    f"Normalize as ``group_norm`` does, then apply {_SILU}.",
    types=_SILU_TYPES,
    **_SILU_ARGUMENTS,
    **_SILU_RESULTS,
    about=_SILU_ABOUT,
)

GROUP_NORM_SILU_V2 = describe(
    "aclnnGroupNormSiluV2",
    Build.COMPOSITE,
    f"Normalize as ``group_norm`` does, then apply {_SILU} if asked to.",
    types=_SILU_TYPES,
    **_SILU_ARGUMENTS,
    activateSilu=flag(True, f"Whether to apply {_SILU}"),
    **_SILU_RESULTS,
    about={
        **_SILU_ABOUT,
        "result_type": "GroupNormSiluV2Result",
    },
)

GROUP_NORM_SILU_QUANT = describe(
    "aclnnGroupNormSiluQuant",
    Build.COMPOSITE,
    "Normalize and activate as ``group_norm_silu`` does, then quantize: "
    "``round(out / quant_scale)``, halves to even, within int8.",
    types={"910b 910_93 950": "T=f16 G=f16 S=f16 | T=bf16 G=bf16 S=bf16"},
    self=_SILU_ARGUMENTS["self"],
    gamma=_SILU_ARGUMENTS["gamma"],
    beta=_SILU_ARGUMENTS["beta"],
    quantScale=given("f32 C | 1", "What one step of ``out`` is worth", positive=True),
    group=_SILU_ARGUMENTS["group"],
    eps=_SILU_ARGUMENTS["eps"],
    activateSilu=flag(derived=lambda _: True),
    out=result("i8 N C space*", "The activated tensor, quantized"),
    meanOut=_SILU_RESULTS["meanOut"],
    rstdOut=_SILU_RESULTS["rstdOut"],
    about={
        **_SILU_ABOUT,
        "compared": "self^ out^ out meanOut rstdOut gamma beta quantScale activateSilu",
        "quirks": "group_norm_silu_quant",
        "result_type": "GroupNormSiluQuantResult",
        "source": "CANN: ops-nn norm/group_norm_silu_quant",
    },
)
