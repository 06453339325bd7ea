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
    """Results of `group_norm_swish`."""

    y: NDArray[Any]
    mean: NDArray[Any]
    rstd: NDArray[Any]


class GroupNormSwishGrads(NamedTuple):
    """Results of `group_norm_swish_grad`; None for each that is not required."""

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

    `mean` and `rstd` are those of the norm before the activation.
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

    ``"910b"`` and ``"910_93"`` round 16-bit results half away from zero, the others to even.
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
