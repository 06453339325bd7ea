# SPDX-License-Identifier: Apache-2.0
"""Mean and variance, and the gradient of what is brought to mean 0 and variance 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn.reference.arithmetic.precision import average, total

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["moments", "standardized_gradient"]


def moments(
    x: NDArray[Any], axes: int | tuple[int, ...]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Find the mean and the biased variance along axes, which stay as ones.

    Returns:
        `x - mean`, the mean and the variance. The mean of nothing is 0, its variance is NaN.
    """
    mean = average(x, axes) if x.size else total(x, axes)
    centred = x - mean
    return centred, mean, average(centred * centred, axes)


def standardized_gradient(g: NDArray[Any], xhat: NDArray[Any], rstd: NDArray[Any]) -> NDArray[Any]:
    """Propagate a gradient back through `xhat = (x - mean) * rstd`, where rows are standardized.

    Args:
        g: The gradient of xhat, (M, N).
        xhat: (M, N).
        rstd: (M, 1).

    Returns:
        `(g - mean(g) - xhat * mean(g * xhat)) * rstd`, the means over a row: (M, N).
    """
    gradient: NDArray[Any] = g - average(g, 1)
    gradient -= xhat * average(g * xhat, 1)
    gradient *= rstd
    return gradient
