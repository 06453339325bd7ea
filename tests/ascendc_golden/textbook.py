# SPDX-License-Identifier: Apache-2.0
"""Layer normalization once more, in float64: row by row, exact sums, explicit Jacobian matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["Array", "row_gradient", "row_norm", "row_statistics", "rows"]

Array = np.ndarray[Any, np.dtype[Any]]


def rows(tensor: Array) -> list[list[float]]:
    """The rows of a tensor, exactly."""
    matrix = tensor.astype(np.float64).reshape(-1, tensor.shape[-1])
    return [[float(value) for value in row] for row in matrix]


def row_statistics(row: list[float]) -> tuple[float, float]:
    mean = math.fsum(row) / len(row)
    return mean, math.fsum((value - mean) ** 2 for value in row) / len(row)


def row_norm(row: list[float], gamma: list[float], beta: list[float], eps: float) -> list[float]:
    mean, variance = row_statistics(row)
    deviation = math.sqrt(variance + eps)
    return [
        (value - mean) / deviation * g + b for value, g, b in zip(row, gamma, beta, strict=True)
    ]


def row_gradient(
    dy: list[float], x: list[float], variance: float, mean: float, gamma: list[float], eps: float
) -> Array:
    """The gradient of a row by the chain rule over a matrix.

    Mean and variance depend on x as a mean and a variance do, whatever their values are: the mean's
    derivative is 1/H, the variance's is that of sum((x - mean)**2) / H with x and mean both moving.
    """
    h = len(x)
    centered = np.array(x) - mean
    rstd = (variance + eps) ** -0.5
    d_centered = np.eye(h) - 1 / h  # [k, j]: of centered[k] by x[j]
    d_variance = 2 / h * (centered @ d_centered)
    d_rstd = -(rstd**3) / 2 * d_variance
    d_normalized = d_centered * rstd + np.outer(centered, d_rstd)
    gradient: Array = (np.array(dy) * np.array(gamma)) @ d_normalized
    return gradient
