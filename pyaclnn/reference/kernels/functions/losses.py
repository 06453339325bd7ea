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


def multilabel_margins(x: Array, target: Array, reduction: int) -> tuple[Array, Array]:
    """A multi-label margin loss, and ones at the classes in front of the first negative one."""
    if target.shape != x.shape:
        raise ValueError(f"self is {x.shape} and target {target.shape}; they must be alike")
    scores, classes = np.atleast_2d(x), np.atleast_2d(target)
    named = np.logical_and.accumulate(classes >= 0, 1)
    places = indices_within("target", np.where(named, classes, 0), scores.shape[1])
    losses, found = np.zeros(len(scores), x.dtype), np.zeros(scores.shape, x.dtype)
    for row, own in enumerate(scores):
        chosen = places[row, named[row]]
        found[row, chosen] = 1
        others = own[found[row] == 0]
        losses[row] = np.maximum(1 - own[chosen, None] + others, 0).sum() / max(own.size, 1)
    return reduced(losses.reshape(x.shape[:-1]), reduction), found.reshape(x.shape)


def ctc(
    logs: Array, targets: Array, sizes: Lengths, blank: int, like: Array
) -> tuple[Array, Array]:
    """CTC losses, and the logarithms of the probabilities of paths so far, as `ctc_back` has them.

    The latter have zeros behind the paths of the longest sequence if the result `like` has room for
    them: that of CANN has multiples of 8.
    """
    width = 2 * max(sizes[1], default=0) + 1
    losses, paths = np.zeros(logs.shape[1]), np.full((logs.shape[1], len(logs), width), -np.inf)
    for place, (steps, size) in enumerate(zip(*sizes, strict=True)):
        path, skips = _path(targets, sizes[1], place, blank, logs.shape[2])
        so_far = np.full(len(path) + 2, -np.inf)
        so_far[2] = 0
        for step in range(steps):
            ways = [so_far[k : k + len(path)] for k in range(3)]
            ways[0] = np.where(skips, ways[0], -np.inf)
            found = np.logaddexp.reduce(ways if step else ways[1:])
            so_far[2:] = found + logs[step, place, path].astype(np.float64)
            paths[place, step, : len(path)] = so_far[2:]
        losses[place] = -np.logaddexp.reduce(so_far[2:][-1 - (size > 0) :])
    behind = 0 if like.shape[-1] % 8 else -width % 8
    return losses, np.pad(paths, ((0, 0), (0, 0), (0, behind)))


def _path(
    targets: Array, lengths: Sequence[int], place: int, blank: int, count: int
) -> tuple[Array, Array]:
    """The classes of a sequence with those between, and which are reached from the last but one."""
    start, size = sum(lengths[:place]), lengths[place]
    path = np.full(2 * size + 1, blank)
    own = targets[place, :size] if targets.ndim > 1 else targets[start : start + size]
    path[1::2] = indices_within("targets", own.astype(np.int64), count)  # floats are taken, too
    return path, (path != blank) & np.append([False, False], path[2:] != path[:-2])[: len(path)]


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
    made = np.zeros(logs.shape)
    for place, steps in enumerate(sizes[0]):
        path, reached = _path(targets, sizes[1], place, blank, logs.shape[2])
        each = logs[:steps, place].astype(np.float64)
        skips = np.append(reached[2:], [False, False])[: len(path)]
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
