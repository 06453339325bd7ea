# SPDX-License-Identifier: Apache-2.0
"""GroupNorm followed by swish (CANN: aclnnGroupNormSwish, aclnnGroupNormSwishGrad)."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.arithmetic.definition import Given, defined
from pyaclnn.reference.arithmetic.groups import GroupGradient, GroupNormalization, swish
from pyaclnn.reference.arithmetic.precision import rounded


@defined(
    "x, gamma, beta, num_groups, eps=1e-5, activate_swish=True, swish_scale=1.0",
    "GroupNormSwishResult: y mean rstd",
)
def group_norm_swish(given: Given) -> Any:
    """Normalize groups of channels as `group_norm` does, then apply swish if asked to.

    `swish(y) = y / (1 + exp(-swish_scale * y))`.

    `mean` and `rstd` are those of the norm before the activation.
    """
    channels, dtype = given.channels("x"), given.array("gamma").dtype
    found = GroupNormalization.of(channels, "x", "num_groups", "gamma", "beta", given.eps)
    y = swish(found.out, given.swish_scale) if given.activate_swish else found.out
    return channels.tensor(y), rounded(found.mean, dtype), rounded(found.rstd, dtype)


@defined(
    "dy, mean, rstd, x, gamma, beta, num_groups, swish_scale=1.0, dgamma_is_require=True, "
    "dbeta_is_require=True, *, family=None",
    "GroupNormSwishGrads: dx dgamma dbeta",
)
def group_norm_swish_grad(given: Given) -> Any:
    """Propagate a gradient back through `group_norm_swish`.

    With `xhat = (x - mean) * rstd`, `z = xhat * gamma + beta`,
    `sigma = 1 / (1 + exp(-swish_scale * z))` and
    `d = dy * sigma * (1 + swish_scale * z * (1 - sigma))`, means over a group, sums over all
    samples and positions: `dx = (d * gamma - mean(d * gamma) - xhat * mean(d * gamma * xhat)) *
    rstd`, `dgamma = sum(d * xhat)`, `dbeta = sum(d)`. Mean and rstd are used as they are.

    ``"910b"`` and ``"910_93"`` round 16-bit results half away from zero, the others to even.
    """
    channels, dtype = given.channels("x"), given.array("gamma").dtype
    gradient = GroupGradient.of(channels, "x", "num_groups")
    scale, swish_scale = channels.each("gamma", 1), given.swish_scale
    z = channels.layout.split(gradient.xhat) * scale + channels.each("beta", 0)
    sigma = 1 / (1 + np.exp(-swish_scale * z))
    d = channels.wide("dy") * sigma * (1 + swish_scale * z * (1 - sigma))
    round_to = gradient.rounding(given.family)
    return (
        round_to(gradient.of_input(d * scale), channels.dtype),
        round_to(gradient.of_scale(d), dtype) if given.dgamma_is_require else None,
        round_to(gradient.of_shift(d), dtype) if given.dbeta_is_require else None,
    )
