# SPDX-License-Identifier: Apache-2.0
"""DeepNorm and its gradient (CANN: aclnnDeepNorm, aclnnDeepNormGrad)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.arithmetic.moments import moments
from pyaclnn.reference.arithmetic.precision import total
from pyaclnn.reference.arithmetic.rows import RowLayout

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["DeepNormGrads", "DeepNormResult", "deep_norm", "deep_norm_grad"]


class DeepNormResult(NamedTuple):
    """Results of `deep_norm`."""

    mean: NDArray[Any]
    rstd: NDArray[Any]
    y: NDArray[Any]


class DeepNormGrads(NamedTuple):
    """Results of `deep_norm_grad`."""

    dx: NDArray[Any]
    dgx: NDArray[Any]
    dbeta: NDArray[Any]
    dgamma: NDArray[Any]


@np.errstate(all="ignore")
def deep_norm(
    x: ArrayLike,
    gx: ArrayLike,
    beta: ArrayLike,
    gamma: ArrayLike,
    alpha: float = 0.3,
    epsilon: float = 1e-6,
) -> DeepNormResult:
    """Normalize the rows of a weighted residual sum, then scale and shift them.

    With `s = alpha * x + gx`, and the mean and the biased variance of each row of it, which is what
    the axes of gamma span: `rstd = 1 / sqrt(variance + epsilon)`,
    `y = (s - mean) * rstd * gamma + beta`.
    """
    tensor, scale = np.asarray(x), np.asarray(gamma)
    layout = RowLayout.of("x", tensor, "the shape of gamma", scale.shape)
    added = alpha * layout.wide_matrix("x", tensor) + layout.wide_matrix("gx", gx)
    centred, mean, variance = moments(added, 1)
    rstd = 1 / np.sqrt(variance + epsilon)
    y = centred * rstd * layout.wide_row("gamma", scale) + layout.wide_row("beta", beta)
    return DeepNormResult(
        layout.statistic(mean), layout.statistic(rstd), layout.tensor(y, tensor.dtype)
    )


@np.errstate(all="ignore")
def deep_norm_grad(
    dy: ArrayLike,
    x: ArrayLike,
    gx: ArrayLike,
    gamma: ArrayLike,
    mean: ArrayLike,
    rstd: ArrayLike,
    alpha: float = 0.3,
) -> DeepNormGrads:
    """Propagate a gradient back through `deep_norm`.

    With `c = alpha * x + gx - mean` and `g = dy * gamma`, means over a row, sums over all rows:
    `dgx = g * rstd - c * mean(g * c * rstd ** 3) - mean(g * rstd)`, `dx = alpha * dgx`,
    `dbeta = sum(dy)`, `dgamma = sum(dy * rstd * c)`. The given mean and rstd are used as they are.
    """
    tensor, scale = np.asarray(x), np.asarray(gamma)
    layout = RowLayout.of("x", tensor, "the shape of gamma", scale.shape)
    grad, row_rstd = layout.wide_matrix("dy", dy), layout.wide_columns("rstd", rstd)
    centred = alpha * layout.wide_matrix("x", tensor) + layout.wide_matrix("gx", gx)
    centred -= layout.wide_columns("mean", mean)
    g = grad * layout.wide_row("gamma", scale)
    of_variance = -total(g * centred * row_rstd**3, 1) / layout.columns
    of_mean = -total(g * row_rstd, 1) / layout.columns
    dgx = g * row_rstd + of_variance * centred + of_mean
    return DeepNormGrads(
        layout.tensor(alpha * dgx, tensor.dtype),
        layout.tensor(dgx, tensor.dtype),
        layout.parameter(grad),
        layout.parameter(grad * row_rstd * centred),
    )
