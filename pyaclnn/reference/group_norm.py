# SPDX-License-Identifier: Apache-2.0
"""GroupNorm, its gradient, and SiLU of it (CANN: aclnnGroupNorm, aclnnGroupNormSilu, ...)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.channels import ChannelLayout
from pyaclnn.reference.arithmetic.groups import GroupGradient, GroupNormalization, swish
from pyaclnn.reference.arithmetic.precision import rounded, wide
from pyaclnn.reference.arithmetic.quantization import quantized

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "GroupNormGrads",
    "GroupNormResult",
    "group_norm",
    "group_norm_backward",
    "group_norm_silu",
    "group_norm_silu_quant",
    "group_norm_silu_v2",
]


class GroupNormResult(NamedTuple):
    """Results of `group_norm` and of its variants with an activation."""

    out: NDArray[Any]
    mean: NDArray[Any]
    rstd: NDArray[Any]


class GroupNormGrads(NamedTuple):
    """Results of `group_norm_backward`; None for each that is not computed."""

    grad_input: NDArray[Any] | None
    grad_weight: NDArray[Any] | None
    grad_bias: NDArray[Any] | None


@np.errstate(all="ignore")
def group_norm(
    input: ArrayLike,
    num_groups: int,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    eps: float = 1e-5,
    *,
    family: str | None = None,
) -> GroupNormResult:
    """Normalize groups of channels to mean 0 and variance 1, then scale and shift each channel.

    With the mean and the biased variance taken over a group's channels in all positions of a
    sample: `rstd = 1 / sqrt(variance + eps)`, `out = (input - mean) * rstd * weight + bias`.

    If a group holds no elements, its mean is 0 and its rstd is NaN, as CANN fills them. On
    ``"910"`` rstd is formed of a variance that was rounded to the input's data type, with `eps`
    added in that type.
    """
    tensor = np.asarray(input)
    layout = ChannelLayout.of("input", tensor)
    layout.check_groups("num_groups", num_groups)
    out, mean, variance, rstd = GroupNormalization.of(
        layout,
        num_groups,
        layout.wide("input", tensor),
        layout.per_channel("weight", weight, 1),
        layout.per_channel("bias", bias, 0),
        eps,
    )
    if family == "910":
        variance = rounded(variance, tensor.dtype) + tensor.dtype.type(eps)
        rstd = 1 / np.sqrt(wide(variance, layout.dtype))
    return GroupNormResult(*(rounded(part, tensor.dtype) for part in (out, mean, rstd)))


@np.errstate(all="ignore")
def group_norm_backward(
    grad_out: ArrayLike,
    input: ArrayLike,
    mean: ArrayLike,
    rstd: ArrayLike,
    weight: ArrayLike | None,
    num_groups: int,
    *,
    output_mask: tuple[bool, bool, bool] = (True, True, True),
    family: str | None = None,
) -> GroupNormGrads:
    """Propagate a gradient back through `group_norm`.

    With `xhat = (input - mean) * rstd` and `g = grad_out * weight`, means over a group and sums
    over all samples and positions: `grad_input = (g - mean(g) - xhat * mean(g * xhat)) * rstd`,
    `grad_weight = sum(grad_out * xhat)`, `grad_bias = sum(grad_out)`.

    The given `mean` and `rstd` are used as they are, also where they are not those of the input.

    Without elements, the gradients of weight and bias are 0. ``"910b"`` and ``"910_93"`` round
    16-bit results half away from zero, the others to even.
    """
    tensor, statistic = np.asarray(input), np.asarray(mean)
    layout = ChannelLayout.of("input", tensor)
    layout.check_groups("num_groups", num_groups)
    gradient = GroupGradient.of(layout, num_groups, tensor, statistic, rstd)
    grad = layout.wide("grad_out", grad_out)
    scale = layout.per_channel("weight", weight, 1)
    want_input, want_weight, want_bias = output_mask
    round_to = gradient.rounding(family)
    return GroupNormGrads(
        round_to(gradient.of_input(grad * scale), tensor.dtype) if want_input else None,
        round_to(gradient.of_scale(grad), statistic.dtype) if want_weight else None,
        round_to(gradient.of_shift(grad), statistic.dtype) if want_bias else None,
    )


def group_norm_silu(
    input: ArrayLike,
    gamma: ArrayLike | None,
    beta: ArrayLike | None,
    group: int,
    eps: float = 1e-5,
    *,
    family: str | None = None,
) -> GroupNormResult:
    """Normalize groups of channels as `group_norm` does, then apply `y / (1 + exp(-y))`.

    `mean` and `rstd` are those of the norm before the activation. On ``"950"`` the statistics come
    in the data type of gamma, or of beta without one.
    """
    return group_norm_silu_v2(input, gamma, beta, group, eps, family=family)


@np.errstate(all="ignore")
def group_norm_silu_v2(
    input: ArrayLike,
    gamma: ArrayLike | None,
    beta: ArrayLike | None,
    group: int,
    eps: float = 1e-5,
    activate_silu: bool = True,
    *,
    family: str | None = None,
) -> GroupNormResult:
    """Normalize groups of channels as `group_norm` does, then, if asked to, `y / (1 + exp(-y))`.

    `mean` and `rstd` are those of the norm before the activation. Families differ as in
    `group_norm_silu`.
    """
    tensor = np.asarray(input)
    layout = ChannelLayout.of("input", tensor)
    layout.check_groups("group", group)
    out, mean, _, rstd = GroupNormalization.of(
        layout,
        group,
        layout.wide("input", tensor),
        layout.per_channel("gamma", gamma, 1),
        layout.per_channel("beta", beta, 0),
        eps,
    )
    if activate_silu:
        out = swish(out, 1)
    given = next((part for part in (gamma, beta) if part is not None), tensor)
    dtype = np.asarray(given if family == "950" else tensor).dtype
    return GroupNormResult(rounded(out, tensor.dtype), rounded(mean, dtype), rounded(rstd, dtype))


@np.errstate(all="ignore")
def group_norm_silu_quant(
    input: ArrayLike,
    gamma: ArrayLike | None,
    beta: ArrayLike | None,
    quant_scale: ArrayLike,
    group: int,
    eps: float = 1e-5,
) -> GroupNormResult:
    """Quantize results of `group_norm_silu`: `round(out / quant_scale)`."""
    tensor = np.asarray(input)
    layout = ChannelLayout.of("input", tensor)
    out, mean, rstd = group_norm_silu(wide(tensor, layout.dtype), gamma, beta, group, eps)
    scale = np.asarray(quant_scale)
    if scale.shape == (1,):
        scale = np.repeat(scale, layout.channels)
    integers = quantized(layout.split(out), layout.per_channel("quant_scale", scale, 1))
    return GroupNormResult(
        integers.reshape(layout.shape), *(rounded(part, tensor.dtype) for part in (mean, rstd))
    )
