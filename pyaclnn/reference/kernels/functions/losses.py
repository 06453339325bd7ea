# SPDX-License-Identifier: Apache-2.0
"""Cross entropy of classes, with weights, smoothing and classes that are ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.kernels.functions.basic import reduced
from pyaclnn.reference.kernels.promotion import indices_within, wide

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = Any
Lengths = tuple["Sequence[int]", "Sequence[int]"]


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


def ctc_back(
    gradient: Array, logs: Array, targets: Array, sizes: Lengths, forward: Any, rule: Any
) -> Array:
    """The gradient of a CTC loss by what the softmax before its logarithms takes.

    Args:
        gradient: The gradient of each loss, (N,).
        logs: Logarithms of the probabilities of classes, (T, N, C).
        targets: Classes, (N, S) or those of all sequences in a row.
        sizes: The steps of each sequence, and the number of its classes.
        forward: The losses, and the logarithms of the probabilities of paths so far.
        rule: The class between classes, and whether infinite losses have no gradient.
    """
    blank, zero_infinity = rule
    made, starts = np.zeros(logs.shape), np.cumsum([0, *sizes[1]])
    for place, (steps, size) in enumerate(zip(*sizes, strict=True)):
        own = targets[place, :size] if targets.ndim > 1 else targets[starts[place] :][:size]
        path = np.full(2 * size + 1, blank)
        path[1::2] = own
        each = logs[:steps, place].astype(np.float64)
        skips = np.append(path[:-2] != path[2:], [False, False])[: len(path)] & (path != blank)
        later = np.full((steps + 1, len(path) + 2), -np.inf)
        later[steps, len(path) - 1] = 0
        for step in range(steps - 1, -1, -1):
            ways = [later[step + 1, k : k + len(path)] for k in range(3)]
            ways[2] = np.where(skips, ways[2], -np.inf)
            later[step, : len(path)] = np.logaddexp.reduce(ways) + each[step, path]
        both = forward[1][place, :steps, : len(path)] + later[:steps, : len(path)]
        found = np.zeros(each.shape)
        shares = np.exp(both + forward[0][place] - each[:, path])
        np.add.at(found, (np.arange(steps)[:, None], path), shares)
        lost = zero_infinity and np.isinf(forward[0][place])
        made[:steps, place] = 0 if lost else (np.exp(each) - found) * gradient[place]
    return made


def _weighted(x: Array, target: Array, weight: Array, ignored: int) -> tuple[Array, Array, Array]:
    """The rows of scores, the class of each, and what each counts: 0 where it is ignored."""
    x = np.moveaxis(x, _classes(x), -1)
    if x.ndim == 0 or target.shape != x.shape[:-1]:
        raise ValueError(f"self is {x.shape} and target {target.shape}; it must be one a row")
    rows, classes = wide(x).reshape(-1, x.shape[-1]), target.reshape(-1)
    counted = classes != ignored
    classes = indices_within("target", np.where(counted, classes, 0), rows.shape[1])
    return rows, classes, np.where(counted, wide(weight)[classes], 0).astype(rows.dtype)


def _classes(x: Array) -> int:
    """The axis of the classes: in front of those of an image."""
    return -1 if x.ndim < 3 else -3  # noqa: PLR2004


def class_loss(
    x: Array, target: Array, weight: Array, reduction: int, ignored: int, results: Sequence[Array]
) -> tuple[Array, Array]:
    """Minus the weighted log-probability of the target's class; the sum of weights beside it."""
    rows, classes, weights = _weighted(x, target, weight, ignored)
    each = -rows[np.arange(len(rows)), classes] * weights
    total = weights.sum() if reduction else np.zeros_like(weights.sum())
    found = each.sum() / total if reduction == 1 else reduced(each, reduction)
    made = zip((found, total), results, strict=True)
    loss, divisor = (np.reshape(each, result.shape).astype(x.dtype) for each, result in made)
    return loss, divisor


def class_loss_back(
    gradient: Array, given: tuple[Array, Array, Array], reduction: int, ignored: int, total: Array
) -> Array:
    """The gradient of `class_loss` by its scores, which are given with targets and weights."""
    rows, classes, weights = _weighted(*given, ignored)
    reduced(weights, reduction)  # refuses another one
    divisor = wide(total).reshape(()) if reduction == 1 else 1
    slopes = -weights * wide(gradient).reshape(-1) / divisor
    found = np.zeros(rows.shape, rows.dtype)
    found[np.arange(len(rows)), classes] = np.where(weights == 0, 0, slopes)
    last = _classes(given[0])
    found = found.reshape(np.moveaxis(given[0], last, -1).shape)
    return np.moveaxis(found, -1, last).astype(given[0].dtype)
