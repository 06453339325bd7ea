# SPDX-License-Identifier: Apache-2.0
"""The operators once more, in float64 and written another way.

One row at a time: the forward functions sum exactly with `math.fsum`, the gradients multiply by the
row's Jacobian matrix, written out element by element. Slow, and unlike the product on purpose.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = [
    "Array",
    "column_totals",
    "layer_norm",
    "layer_norm_backward",
    "matrix",
    "numeric_gradient",
    "rms_norm",
    "rms_norm_grad",
]

Array = np.ndarray[Any, np.dtype[np.float64]]


def matrix(tensor: NDArray[Any], lead: int) -> Array:
    """Bring a tensor with `lead` leading axes to float64 rows."""
    rows = math.prod(tensor.shape[:lead])
    return np.array(tensor, np.float64).reshape(rows, math.prod(tensor.shape[lead:]))


def column_totals(rows: Array) -> Array:
    return np.array([math.fsum(column) for column in rows.T], np.float64)


def layer_norm(x: Array, weight: Array, bias: Array, eps: float) -> tuple[Array, Array, Array]:
    """Rows (M, N) to the normalized rows, the means (M,) and the reciprocal deviations (M,)."""
    out, means, rstds = np.empty_like(x), np.empty(len(x)), np.empty(len(x))
    for i, row in enumerate(x.tolist()):
        means[i] = math.fsum(row) / len(row)
        squares = [(value - means[i]) ** 2 for value in row]
        rstds[i] = (math.fsum(squares) / len(row) + eps) ** -0.5
        out[i] = [
            (value - means[i]) * rstds[i] * w + b
            for value, w, b in zip(row, weight, bias, strict=True)
        ]
    return out, means, rstds


def layer_norm_backward(
    dy: Array, x: Array, means: Array, rstds: Array, weight: Array
) -> tuple[Array, Array, Array]:
    """The gradients of rows (M, N), of the weight (N,) and of the bias (N,)."""
    n = x.shape[1]
    xhat = (x - means[:, None]) / (1 / rstds[:, None])
    grad_input = np.empty_like(x)
    for i, row in enumerate(xhat):
        jacobian = np.empty((n, n))
        for j in range(n):
            # d xhat[k] / d x[j], for every k
            jacobian[j] = -(1 + row[j] * row) / n
            jacobian[j, j] += 1
        grad_input[i] = jacobian @ (rstds[i] * weight * dy[i])
    return grad_input, column_totals(dy * xhat), column_totals(dy)


def rms_norm(x: Array, gamma: Array, epsilon: float) -> tuple[Array, Array]:
    """Rows (M, N) to the normalized rows and the reciprocal root mean squares (M,)."""
    y, rstds = np.empty_like(x), np.empty(len(x))
    for i, row in enumerate(x.tolist()):
        rstds[i] = (math.fsum(value * value for value in row) / len(row) + epsilon) ** -0.5
        y[i] = [value * rstds[i] * g for value, g in zip(row, gamma, strict=True)]
    return y, rstds


def rms_norm_grad(dy: Array, x: Array, rstds: Array, gamma: Array) -> tuple[Array, Array]:
    """The gradients of rows (M, N) and of gamma (N,)."""
    n = x.shape[1]
    dx = np.empty_like(x)
    for i, (row, r) in enumerate(zip(x, rstds, strict=True)):
        jacobian = np.empty((n, n))
        for j in range(n):
            # d (x[k] r) / d x[j], for every k
            jacobian[j] = -row[j] * row * r**3 / n
            jacobian[j, j] += r
        dx[i] = jacobian @ (gamma * dy[i])
    return dx, column_totals(dy * x * rstds[:, None])


def numeric_gradient(function: Callable[[Array], float], at: Array, step: float = 1e-5) -> Array:
    """The gradient of a scalar function by central differences."""
    gradient = np.empty_like(at)
    for index in np.ndindex(at.shape):
        up, down = at.copy(), at.copy()
        up[index] += step
        down[index] -= step
        gradient[index] = (function(up) - function(down)) / (2 * step)
    return gradient
