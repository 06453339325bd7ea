# SPDX-License-Identifier: Apache-2.0
"""Cross entropy of classes, with weights, smoothing and classes that are ignored."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.kernels.promotion import indices_within

__all__ = ["class_shares", "cross_entropy", "cross_entropy_slope"]

Array = Any


def class_shares(
    target: Array, weight: Array, ignored: int, smoothing: float, count: int
) -> tuple[Array, Array]:
    """The factors of the negative logarithms of classes, and the sum of the rows' weights."""
    weight = np.ones(count) if weight is None else weight
    kept = target != ignored
    place = indices_within("target", np.where(kept, target, 0), count)
    shares = np.tile(weight * smoothing / count, (len(target), 1))
    shares[np.arange(len(target)), place] += (1 - smoothing) * weight[place]
    return shares * kept[:, None], (weight[place] * kept).sum()


def cross_entropy(logs: Array, shares: Array, total: Array, reduction: str | None) -> Array:
    """The loss of each row, their sum, or their mean by the rows' weights."""
    each = -(shares * logs).sum(1)
    if reduction == "none":
        return each
    return each.sum() if reduction == "sum" else each.sum() / total


def cross_entropy_slope(
    gradient: Array, logs: Array, shares: Array, total: Array, reduction: str | None
) -> Array:
    """The gradient of `cross_entropy` by what the logarithms of probabilities are of."""
    factor = gradient[:, None] if reduction == "none" else gradient.reshape(())
    if reduction not in ("none", "sum"):
        factor = factor / total
    return factor * (np.exp(logs) * shares.sum(1, keepdims=True) - shares)
