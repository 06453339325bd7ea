# SPDX-License-Identifier: Apache-2.0
"""Mixtures of experts, products of groups, and rotary positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.kernels.functions.attention import without

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = Any


def rotation(x: Array, mode: int) -> Array:
    """The partner of each element in a rotary embedding: by halves, pairs or quarters."""
    if mode == 1:
        return np.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)
    parts = np.split(x, 4 if mode == 2 else 2, -1)  # noqa: PLR2004
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return np.concatenate([part for a, b in pairs for part in (-b, a)], -1)


def rotated(x: Array, cos: Array, sin: Array, mode: Any) -> Array:
    """A rotary embedding: modes 0 half, 1 interleave, 2 quarter, 3 interleave to halves."""
    mode = {"half": 0, "interleave": 1, "quarter": 2, "interleave-half": 3}.get(mode, mode) or 0
    if mode == 3:  # noqa: PLR2004
        x, mode = np.concatenate([x[..., ::2], x[..., 1::2]], -1), 0
    return x * cos + rotation(x, mode) * sin


def cached_rotation(
    x: Array, positions: Array, cache: Array, head: int, halves: bool, sections: Any = None
) -> Array:
    """The first elements of each head rotated by the cosines and sines of its position.

    Args:
        x: Heads of each token in a row, (T, heads * head).
        positions: The position of each token, (T,), or on each of three axes, (3, T).
        cache: Cosines and then sines of each position, (P, rotated).
        head: The number of elements of a head.
        halves: True if pairs are of two halves; else they are neighbours.
        sections: The number of angles by the position on each axis; None or zeros for one axis.
    """
    rows = cache[positions]
    if sections is not None and any(sections):
        axes = np.tile(np.repeat(np.arange(len(sections)), sections), 2)
        rows = rows[axes, :, np.arange(len(axes))].T
    cos, sin = np.split(rows[:, None], 2, -1)
    both = [np.concatenate([a, a], -1) if halves else np.repeat(a, 2, -1) for a in (cos, sin)]
    heads, width = x.reshape(len(x), -1, head), cache.shape[1]
    turned = rotated(heads[..., :width], both[0], both[1], 0 if halves else 1)
    return np.concatenate([turned, heads[..., width:]], -1).reshape(x.shape)


def like(gradient: Array, shape: Sequence[int]) -> Array:
    """A gradient summed over the axes that were broadcast."""
    axes = tuple(i for i, n in enumerate(shape) if n == 1 != gradient.shape[i])
    return gradient.sum(axes, keepdims=True)


def expert_order(experts: Array) -> tuple[Array, Array]:
    """The stable order of tokens by their experts, and where each of them goes."""
    order = np.argsort(experts.reshape(-1), kind="stable")
    return order, np.argsort(order, kind="stable")


def combined(tokens: Array, places: Array, weights: Array, results: Array) -> Array:
    """Tokens from their places, weighted and summed for each row of a result."""
    rows = tokens[np.clip(places, 0, len(tokens) - 1)].reshape(len(results), -1, tokens.shape[-1])
    shares = 1 if weights is None else weights.reshape(len(results), -1, 1)
    return (rows * shares).sum(1)


def group_ends(groups: Array, *, counts: bool) -> Array:
    """Where groups of rows end: cumulative numbers, or those of how many rows each has."""
    return np.cumsum(groups) if counts else np.asarray(groups)


def grouped_product(
    factors: tuple[Any, Any, Any], groups: Any, results: Any, rule: Any = (False, 0), **absent: Any
) -> list[Array]:
    """Products of rows of tokens with the matrix of their group.

    Factors are lists of rows, matrices and biases. Groups end where cumulative numbers say, or have
    as many rows as they count; the rule is whether they do, and the axis of the groups.
    """
    (x, weight, bias), (counts, axis) = factors, rule
    without(**{name: value or None for name, value in absent.items()})
    if axis not in (-1, 0):
        raise NotImplementedError(f"groupType {axis} is not computed")
    matrices = list(weight[0]) if len(weight) == 1 and weight[0].ndim == 3 else list(weight)  # noqa: PLR2004
    biases: list[Any] = list(bias or [None] * len(matrices))
    biases = list(biases[0]) if len(biases) == 1 < len(matrices) else biases
    parts = list(x)
    if len(x) == 1 and len(matrices) > 1:
        ends = group_ends(groups, counts=counts)
        parts = np.split(x[0], ends[:-1])
        parts[-1] = parts[-1][: int(ends[-1] - (ends[-2] if len(ends) > 1 else 0))]
    rows = zip(parts, matrices, biases, strict=True)
    made = [a @ m if b is None else a @ m + b for a, m, b in rows]
    if len(results) == len(made) > 1:
        return made
    whole = np.concatenate(made)
    rest = len(results[0]) - len(whole)
    return [np.pad(whole, [(0, rest), (0, 0)])]


def _places(places: Array, limits: Sequence[int] | None, count: int) -> tuple[Array, Array]:
    """The row of each place in a range of rows, and whether there is one."""
    first, last = limits or (0, len(places))
    inside = (places >= first) & (places < min(last, first + count))
    return np.where(inside, places - first, 0), inside


def expert_range_combined(
    tokens: Array, places: Array, weights: Array, chosen: int, limits: Sequence[int] | None
) -> Array:
    """Tokens from their places in a range of rows, weighted and summed for each row of a result."""
    at, inside = _places(places, limits, len(tokens))
    shares = inside * (1 if weights is None else weights.reshape(-1))
    return (tokens[at] * shares[:, None]).reshape(-1, chosen, tokens.shape[-1]).sum(1)


def expert_range_combined_back(
    gradient: Array, places: Array, tokens: Array, weights: Array, chosen: int, limits: Any
) -> tuple[Array, Array]:
    """The gradients of `expert_range_combined` by its tokens and by its weights."""
    first, last = limits or (0, len(places))
    at, inside = _places(places, limits, last - first)
    spread = np.repeat(gradient, chosen, 0)
    made = np.zeros((last - first, gradient.shape[1]), gradient.dtype)
    shares = inside * (1 if weights is None else weights.reshape(-1))
    np.add.at(made, at, spread * shares[:, None])
    if weights is None:
        return made, None
    return made, ((tokens[at] * spread).sum(1) * inside).reshape(weights.shape)


def expert_range_back(
    gradient: Array, weights: Array, places: Array, chosen: int, limits: Sequence[int] | None
) -> tuple[Array, Array]:
    """The gradients of rows of a range by their tokens, and of their weights."""
    at, inside = _places(places, limits, len(gradient))
    by_token = expert_range_combined(gradient, places, None, chosen, limits)
    return by_token, None if weights is None else (weights[at] * inside).reshape(-1, chosen)
