# SPDX-License-Identifier: Apache-2.0
"""Mean and variance, and the gradient of what is brought to mean 0 and variance 1."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pyaclnn.reference.arithmetic.precision import total

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
    along = (axes,) if isinstance(axes, int) else axes
    # NumPy 1 makes float64 of float32 divided by an integer beyond 65535.
    count = x.dtype.type(math.prod(x.shape[axis] for axis in along))
    mean = total(x, axes) / max(count, 1)
    centred = x - mean
    return centred, mean, total(centred * centred, axes) / count


def standardized_gradient(g: NDArray[Any], xhat: NDArray[Any], rstd: NDArray[Any]) -> NDArray[Any]:
    """Propagate a gradient back through `xhat = (x - mean) * rstd`, where rows are standardized.

    Args:
        g: The gradient of xhat, (M, N).
        xhat: (M, N).
        rstd: (M, 1).

    Returns:
        `(g - mean(g) - xhat * mean(g * xhat)) * rstd`, the means over a row: (M, N).
    """
    columns = g.shape[1]
    gradient: NDArray[Any] = g - total(g, 1) / columns
    gradient -= xhat * (total(g * xhat, 1) / columns)
    gradient *= rstd
    return gradient
