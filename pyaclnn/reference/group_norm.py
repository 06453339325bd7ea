# SPDX-License-Identifier: Apache-2.0
"""GroupNorm, its gradient, and SiLU of it (CANN: aclnnGroupNorm, aclnnGroupNormSilu, ...)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.arithmetic.definition import Given, defined
from pyaclnn.reference.arithmetic.groups import GroupGradient, GroupNormalization, swish
from pyaclnn.reference.arithmetic.precision import rounded, wide
from pyaclnn.reference.arithmetic.quantization import quantized

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESULTS = "GroupNormResult: out mean rstd"


@defined("input, num_groups, weight=None, bias=None, eps=1e-5, *, family=None", RESULTS)
def group_norm(given: Given) -> Any:
    """Normalize groups of channels to mean 0 and variance 1, then scale and shift each channel.

    With the mean and the biased variance taken over a group's channels in all positions of a
    sample: `rstd = 1 / sqrt(variance + eps)`, `out = (input - mean) * rstd * weight + bias`.

    If a group holds no elements, its mean is 0 and its rstd is NaN, as CANN fills them. On
    ``"910"`` rstd is formed of a variance that was rounded to the input's data type, with `eps`
    added in that type.
    """
    channels = given.channels("input")
    found = GroupNormalization.of(channels, "input", "num_groups", "weight", "bias", given.eps)
    dtype = channels.dtype
    rstd = reciprocal_deviation(given, found.variance, found.rstd, dtype)
    return [rounded(part, dtype) for part in (found.out, found.mean, rstd)]


def reciprocal_deviation(
    given: Given, variance: NDArray[Any], rstd: NDArray[Any], dtype: np.dtype[Any]
) -> NDArray[Any]:
    """Return `rstd` as a family forms it for a tensor of a data type."""
    if given.family != "910":
        return rstd
    return np.asarray(
        1 / np.sqrt(wide(rounded(variance, dtype) + dtype.type(given.eps), rstd.dtype))
    )


@defined(
    "grad_out, input, mean, rstd, weight, num_groups, *, output_mask=(True, True, True), "
    "family=None",
    "GroupNormGrads: grad_input grad_weight grad_bias",
)
def group_norm_backward(given: Given) -> Any:
    """Propagate a gradient back through `group_norm`.

    With `xhat = (input - mean) * rstd` and `g = grad_out * weight`, means over a group and sums
    over all samples and positions: `grad_input = (g - mean(g) - xhat * mean(g * xhat)) * rstd`,
    `grad_weight = sum(grad_out * xhat)`, `grad_bias = sum(grad_out)`.

    The given `mean` and `rstd` are used as they are, also where they are not those of the input.

    Without elements, the gradients of weight and bias are 0. ``"910b"`` and ``"910_93"`` round
    16-bit results half away from zero, the others to even.
    """
    channels, dtype = given.channels("input"), given.array("mean").dtype
    gradient = GroupGradient.of(channels, "input", "num_groups")
    grad, scale = channels.wide("grad_out"), channels.each("weight", 1)
    want_input, want_weight, want_bias = given.output_mask
    round_to = gradient.rounding(given.family)
    return (
        round_to(gradient.of_input(grad * scale), channels.dtype) if want_input else None,
        round_to(gradient.of_scale(grad), dtype) if want_weight else None,
        round_to(gradient.of_shift(grad), dtype) if want_bias else None,
    )


@defined("input, gamma, beta, group, eps=1e-5, *, family=None", RESULTS)
def group_norm_silu(given: Given) -> Any:
    """Normalize groups of channels as `group_norm` does, then apply `y / (1 + exp(-y))`.

    `mean` and `rstd` are those of the norm before the activation. On ``"950"`` the statistics come
    in the data type of gamma, or of beta without one.
    """
    return given.passed_to(group_norm_silu_v2)


@defined("input, gamma, beta, group, eps=1e-5, activate_silu=True, *, family=None", RESULTS)
def group_norm_silu_v2(given: Given) -> Any:
    """Normalize groups of channels as `group_norm` does, then, if asked to, `y / (1 + exp(-y))`.

    `mean` and `rstd` are those of the norm before the activation. Families differ as in
    `group_norm_silu`.
    """
    channels = given.channels("input")
    found = GroupNormalization.of(channels, "input", "group", "gamma", "beta", given.eps)
    out = swish(found.out, 1) if given.activate_silu else found.out
    names = [name for name in ("gamma", "beta") if getattr(given, name) is not None]
    named = names[0] if names and given.family == "950" else "input"
    dtype = given.array(named).dtype
    return channels.tensor(out), rounded(found.mean, dtype), rounded(found.rstd, dtype)


@defined("input, gamma, beta, quant_scale, group, eps=1e-5", RESULTS)
def group_norm_silu_quant(given: Given) -> Any:
    """Quantize results of `group_norm_silu`: `round(out / quant_scale)`."""
    channels = given.channels("input")
    layout = channels.layout
    tensor = wide(given.input, layout.dtype)
    out, mean, rstd = given.passed_to(group_norm_silu, input=tensor)
    if np.shape(given.quant_scale) == (1,):
        given.quant_scale = np.repeat(given.quant_scale, layout.channels)
    integers = quantized(layout.split(out), channels.each("quant_scale", 1))
    return integers.reshape(layout.shape), *(rounded(p, channels.dtype) for p in (mean, rstd))
