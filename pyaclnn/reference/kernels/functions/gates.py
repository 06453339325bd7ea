# SPDX-License-Identifier: Apache-2.0
"""Gates whose operands are clipped, and logits of which few are kept."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.kernels.functions.basic import sigmoid, softmax

Array = Any


def parted(x: Array, axis: int, interleaved: bool) -> tuple[Array, Array]:
    """The two halves of an axis, or its even and its odd elements."""
    if not interleaved:
        a, b = np.split(x, 2, axis)
        return a, b
    rows = np.moveaxis(x, axis, -1)
    return np.moveaxis(rows[..., ::2], -1, axis), np.moveaxis(rows[..., 1::2], -1, axis)


def rejoined(a: Array, b: Array, axis: int, interleaved: bool) -> Array:
    """The inverse of `parted`."""
    if not interleaved:
        return np.concatenate([a, b], axis)
    pairs = np.stack([np.moveaxis(a, axis, -1), np.moveaxis(b, axis, -1)], -1)
    return np.moveaxis(pairs.reshape(*pairs.shape[:-2], -1), -1, axis)


def clipped_gate(a: Array, b: Array, alpha: float, limit: float, bias: float) -> Array:
    """``a * sigmoid(alpha * a) * (b + bias)`` of a, at most a limit, and b, between limits."""
    a, b = np.minimum(a, limit), np.clip(b, -limit, limit)
    return a * sigmoid(alpha * a) * (b + bias)


def clipped_gate_back(
    gradient: Array, a: Array, b: Array, alpha: float, limit: float, bias: float
) -> tuple[Array, Array]:
    """The gradients of `clipped_gate` by both operands; 0 where they are clipped."""
    low, middle = np.minimum(a, limit), np.clip(b, -limit, limit)
    share = sigmoid(alpha * low)
    slope = share * (1 + alpha * low * (1 - share)) * (middle + bias)
    return gradient * slope * (a <= limit), gradient * low * share * (np.abs(b) <= limit)


def top_logits(logits: Array, most: Array, count: Array) -> Array:
    """Logits of the ``count`` largest ones whose probabilities reach ``most``, else -inf.

    Args:
        logits: (N, V).
        most: The sum of probabilities of each row, (N,), or None.
        count: The number of each row, (N,), or None.
    """
    order = np.argsort(logits, -1, kind="stable")
    rows = np.take_along_axis(logits, order, -1)
    if count is not None:
        last = np.clip(rows.shape[1] - count, 0, rows.shape[1] - 1)
        least = np.take_along_axis(rows, last.reshape(-1, 1).astype(np.int64), -1)
        rows = np.where(rows < least, -np.inf, rows)
    if most is not None:
        left_out = np.cumsum(softmax(rows), -1) <= 1 - most.reshape(-1, 1)
        left_out[:, -1] = False
        rows = np.where(left_out, -np.inf, rows)
    made = np.empty_like(rows)
    np.put_along_axis(made, order, rows, -1)
    return made
