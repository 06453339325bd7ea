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
    """What `deep_norm` returns.

    Attributes:
        mean: The mean of each row: the leading axes, then ones; float32 (float64 for float64 x).
        rstd: The reciprocal standard deviation of each row, like `mean`.
        y: The normalized sum: the shape and data type of x.
    """

    mean: NDArray[Any]
    rstd: NDArray[Any]
    y: NDArray[Any]


class DeepNormGrads(NamedTuple):
    """What `deep_norm_grad` returns.

    Attributes:
        dx: The gradient of x: its shape and data type.
        dgx: The gradient of gx, like `dx`.
        dbeta: The gradient of beta: the shape of gamma; float32 (float64 for float64 x).
        dgamma: The gradient of gamma, like `dbeta`.
    """

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

    Args:
        x: A float16, bfloat16, float32 or float64 tensor of any rank from 1.
        gx: What is added; the shape of x, any float type.
        beta: The shift; the shape of gamma, any float type.
        gamma: The scale, any float type; the shape of x must end in the shape of gamma.
        alpha: The weight of x.
        epsilon: Added to the variance.

    Returns:
        `mean`, `rstd` and `y`.

    Raises:
        TypeError: The data type of x is not one of the four.
        ValueError: A shape does not fit; the message names the argument.

    Source: CANN: ops-nn norm/deep_norm.
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

    Args:
        dy: The gradient of the forward y; the shape of x, any float type.
        x: The forward x: float16, bfloat16, float32 or float64, of any rank from 1.
        gx: The forward gx; the shape of x, any float type.
        gamma: The forward scale, any float type; the shape of x must end in the shape of gamma.
        mean: The mean of each row: as many elements as rows.
        rstd: The reciprocal standard deviation of each row, like `mean`.
        alpha: The forward weight of x.

    Returns:
        `dx`, `dgx`, `dbeta` and `dgamma`.

    Raises:
        TypeError: The data type of x is not one of the four.
        ValueError: A shape does not fit; the message names the argument.

    Source: CANN: ops-nn norm/deep_norm_grad.
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
