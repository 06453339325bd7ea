# SPDX-License-Identifier: Apache-2.0
"""GroupNorm followed by swish (CANN: aclnnGroupNormSwish, aclnnGroupNormSwishGrad)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.channels import ChannelLayout
from pyaclnn.reference.arithmetic.groups import GroupGradient, GroupNormalization, swish
from pyaclnn.reference.arithmetic.precision import rounded

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "GroupNormSwishGrads",
    "GroupNormSwishResult",
    "group_norm_swish",
    "group_norm_swish_grad",
]


class GroupNormSwishResult(NamedTuple):
    """What `group_norm_swish` returns.

    Attributes:
        y: The activated norm: the shape and data type of x.
        mean: The mean of each group: (N, groups), the data type of gamma.
        rstd: The reciprocal standard deviation of each group, like `mean`.
    """

    y: NDArray[Any]
    mean: NDArray[Any]
    rstd: NDArray[Any]


class GroupNormSwishGrads(NamedTuple):
    """What `group_norm_swish_grad` returns; None stands for what is not required.

    Attributes:
        dx: The gradient of x: its shape and data type.
        dgamma: The gradient of gamma: its shape and data type.
        dbeta: The gradient of beta, like `dgamma`.
    """

    dx: NDArray[Any]
    dgamma: NDArray[Any] | None
    dbeta: NDArray[Any] | None


@np.errstate(all="ignore")
def group_norm_swish(
    x: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike,
    num_groups: int,
    eps: float = 1e-5,
    activate_swish: bool = True,
    swish_scale: float = 1.0,
) -> GroupNormSwishResult:
    """Normalize groups of channels as `group_norm` does, then apply swish if asked to.

    `swish(y) = y / (1 + exp(-swish_scale * y))`.

    Args:
        x: A float16, bfloat16, float32 or float64 tensor (N, C, ...) of any rank from 2.
        gamma: The scale, (C,), any float type.
        beta: The shift, (C,), any float type.
        num_groups: How many groups the channels form; it divides C.
        eps: Added to the variance.
        activate_swish: Whether to apply the activation.
        swish_scale: What multiplies the exponent.

    Returns:
        `y`, and `mean` and `rstd` of the norm, not of what the activation made of it.

    Raises:
        TypeError: The data type of x is not one of the four.
        ValueError: A shape does not fit; the message names the argument.

    Source: CANN: ops-nn norm/group_norm_swish.
    """
    tensor, scale = np.asarray(x), np.asarray(gamma)
    layout = ChannelLayout.of("x", tensor)
    layout.check_groups("num_groups", num_groups)
    y, mean, _, rstd = GroupNormalization.of(
        layout,
        num_groups,
        layout.wide("x", tensor),
        layout.per_channel("gamma", scale, 1),
        layout.per_channel("beta", beta, 0),
        eps,
    )
    if activate_swish:
        y = swish(y, swish_scale)
    return GroupNormSwishResult(
        rounded(y, tensor.dtype), rounded(mean, scale.dtype), rounded(rstd, scale.dtype)
    )


@np.errstate(all="ignore")
def group_norm_swish_grad(
    dy: ArrayLike,
    mean: ArrayLike,
    rstd: ArrayLike,
    x: ArrayLike,
    gamma: ArrayLike,
    beta: ArrayLike,
    num_groups: int,
    swish_scale: float = 1.0,
    dgamma_is_require: bool = True,
    dbeta_is_require: bool = True,
    *,
    family: str | None = None,
) -> GroupNormSwishGrads:
    """Propagate a gradient back through `group_norm_swish`.

    With `xhat = (x - mean) * rstd`, `z = xhat * gamma + beta`,
    `sigma = 1 / (1 + exp(-swish_scale * z))` and
    `d = dy * sigma * (1 + swish_scale * z * (1 - sigma))`, means over a group, sums over all
    samples and positions: `dx = (d * gamma - mean(d * gamma) - xhat * mean(d * gamma * xhat)) *
    rstd`, `dgamma = sum(d * xhat)`, `dbeta = sum(d)`. Mean and rstd are used as they are.

    Args:
        dy: The gradient of the forward y; the shape of x, any float type.
        mean: The mean of each group: N * num_groups elements, any float type.
        rstd: The reciprocal standard deviation of each group, like `mean`.
        x: The forward x: float16, bfloat16, float32 or float64, (N, C, ...).
        gamma: The forward scale, (C,), any float type.
        beta: The forward shift, (C,), any float type.
        num_groups: How many groups the channels form; it divides C.
        swish_scale: What multiplied the exponent.
        dgamma_is_require: Whether to return the gradient of gamma.
        dbeta_is_require: Whether to return the gradient of beta.
        family: The family of chips. ``"910b"`` and ``"910_93"`` round 16-bit results half away from
            zero, the others to even.

    Returns:
        `dx`, `dgamma` and `dbeta`.

    Raises:
        TypeError: The data type of x is not one of the four.
        ValueError: A shape does not fit; the message names the argument.

    Source: CANN: ops-nn norm/group_norm_swish_grad.
    """
    tensor, dtype = np.asarray(x), np.asarray(gamma).dtype
    layout = ChannelLayout.of("x", tensor)
    layout.check_groups("num_groups", num_groups)
    gradient = GroupGradient.of(layout, num_groups, tensor, mean, rstd)
    scale = layout.per_channel("gamma", gamma, 1)
    z = layout.split(gradient.xhat) * scale + layout.per_channel("beta", beta, 0)
    sigma = 1 / (1 + np.exp(-swish_scale * z))
    d = layout.wide("dy", dy) * sigma * (1 + swish_scale * z * (1 - sigma))
    round_to = gradient.rounding(family)
    return GroupNormSwishGrads(
        round_to(gradient.of_input(d * scale), tensor.dtype),
        round_to(gradient.of_scale(d), dtype) if dgamma_is_require else None,
        round_to(gradient.of_shift(d), dtype) if dbeta_is_require else None,
    )
