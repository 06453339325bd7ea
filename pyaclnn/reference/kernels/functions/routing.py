# SPDX-License-Identifier: Apache-2.0
"""Routing of tokens to experts: the choice of experts, expanded rows, and rows of groups.

An expanded row is a token for one of its experts; rows are in the order of the experts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from pyaclnn.reference.kernels.functions.attention import without
from pyaclnn.reference.kernels.functions.basic import sigmoid, softmax
from pyaclnn.reference.kernels.functions.experts import expert_order, group_ends

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = Any
_MOST_ROUNDS: Final = 10_000
"""Most turns of a balance between rows and columns."""


def groups_of_rows(ends: Array, count: int, *, counts: bool = False) -> Array:
    """The group of each row; groups end where cumulative numbers say, or have so many rows."""
    ends = group_ends(ends, counts=counts)
    return np.minimum(np.searchsorted(ends, np.arange(count), "right"), len(ends) - 1)


def group_sums(x: Array, ends: Array, *, counts: bool = False) -> Array:
    """The sums of the rows of each group."""
    ends = group_ends(ends, counts=counts)
    starts = [0, *ends[:-1]]
    return np.stack([x[a:b].sum(0) for a, b in zip(starts, ends, strict=True)])


def feed_forward(
    x: Array, weights: Array, biases: Array, ends: Any, activation: str, counts: bool = True
) -> Array:
    """Two products with an activation between them, with matrices of each group if it has groups.

    Raises:
        NotImplementedError: The activation is none of relu, silu and fastgelu.
    """
    functions = {
        "relu": lambda y: np.maximum(y, 0),
        "silu": lambda y: y * sigmoid(y),
        "fastgelu": lambda y: y * sigmoid(1.702 * y),
    }
    if activation not in functions:
        raise NotImplementedError(f"the activation {activation} is not computed")
    if weights[0].ndim == 2:  # noqa: PLR2004
        hidden = x @ weights[0] + (0 if biases[0] is None else biases[0])
        return functions[activation](hidden) @ weights[1] + (0 if biases[1] is None else biases[1])
    group = groups_of_rows(ends, len(x), counts=counts)
    made = np.zeros((len(x), weights[1].shape[-1]), x.dtype)
    for place, pair in enumerate(zip(*weights, strict=True)):
        mine = group == place
        own = (None if each is None else each[place] for each in biases)
        made[mine] = feed_forward(x[mine], pair, tuple(own), None, activation)
    return made


def group_outer(x: Array, y: Array, ends: Array, *, counts: bool = False) -> Array:
    """The products of the transposed rows of each group with its other rows."""
    group = groups_of_rows(ends, len(x), counts=counts)
    inside = np.arange(len(x)) < group_ends(ends, counts=counts)[-1]
    parts = [(group == place) & inside for place in range(len(ends))]
    return np.stack([x[part].T @ y[part] for part in parts])


def expanded_permute(order: Array, sources: Array, targets: Array, size: int) -> Array:
    """The element that each element of permuted segments comes from."""
    made = np.zeros(size, sources.dtype)
    for place, segment in enumerate(order):
        count = targets[place + 1] - targets[place]
        made[targets[place] : targets[place + 1]] = sources[segment] + np.arange(count)
    return made


def expanded(x: Array, rows: Array, experts: Array, active: int) -> tuple[Array, Array, Array]:
    """The first expanded rows, the place of each in the order of experts, and their experts.

    Row numbers count through the tokens for each choice of an expert.
    """
    order = np.argsort(experts.reshape(-1), kind="stable")
    numbers = rows.reshape(-1)[order]
    places = np.zeros_like(numbers)
    places[numbers] = np.arange(len(numbers))
    count = min(active, len(x)) * experts.shape[1]
    return x[numbers[:count] % len(x)], places, experts.reshape(-1)[order]


def routed(
    x: Array, experts: Array, results: Array, limits: tuple[int, ...], tokens: tuple[int, bool]
) -> tuple[Array, ...]:
    """Expanded rows, the place of each, and how many each expert has before and after dropping.

    Args:
        x: Tokens, (N, H).
        experts: The experts of each, (N, K).
        results: The tensor of the expanded rows.
        limits: The number of active rows, the capacity of an expert, the number of experts, and
            whether (1) rows beyond the capacity are dropped and missing ones are 0.
        tokens: Which numbers of rows are asked for: 1 cumulative ones, 2 one an expert; and
            whether those before dropping are.

    Returns:
        The rows, their places or -1, the numbers of rows or None, those before dropping or None,
        and the token of each expanded row, or -1.
    """
    active, capacity, number, drops = limits
    flat = experts.reshape(-1)
    order, places = expert_order(experts)
    count = np.bincount(flat, minlength=number)[: number or None]
    if drops:
        starts = np.cumsum(count) - count
        inside = places - starts[flat]
        places = np.where(inside < capacity, flat * capacity + inside, -1)
        rows = np.full(number * capacity, -1)
        rows[places[places >= 0]] = np.flatnonzero(places >= 0)
    else:
        rows = order[:active] if active > 0 else order
    rows = np.where(rows < 0, -1, rows // max(flat.size // max(len(x), 1), 1))
    made = np.where(rows[:, None] < 0, 0, x[np.maximum(rows, 0)]).reshape(results.shape)
    listed = {1: np.cumsum(count), 2: count}.get(tokens[0])
    return made, places, listed, count if tokens[1] else None, rows


def expanded_back(gradient: Array, places: Array, chosen: int) -> Array:
    """The gradient by tokens of their expanded rows; a place without a row counts for nothing."""
    rows = gradient.reshape(-1, gradient.shape[-1])
    there = (places >= 0) & (places < len(rows))
    rows = np.where(there[:, None], rows[np.where(there, places, 0)], 0)
    return rows.reshape(-1, chosen, gradient.shape[-1]).sum(1)


def unpermuted_back(rows: Array, gradient: Array, places: Array, weights: Array) -> Array:
    """The gradients of a weighted sum of rows from their places: by rows, and by weights."""
    chosen = 1 if weights is None else weights.shape[1]
    spread = np.repeat(gradient, chosen, 0)
    made = np.zeros((len(places), gradient.shape[1]), gradient.dtype)
    made[places] = spread * (1 if weights is None else weights.reshape(-1, 1))
    if weights is None:
        return made, None
    return made, (rows[places] * spread).sum(1).reshape(weights.shape)


def experts_chosen(
    x: Array, bias: Array, k: int, groups: Sequence[int], norms: Sequence[Any]
) -> tuple[Array, Array, Array]:
    """The weights of the best experts, their numbers, and the scores of all experts.

    Args:
        x: Scores, (N, E).
        bias: A bias of the choice alone, (E,), or None.
        k: The number of experts of a token.
        groups: Number of groups that count, number of all, and 1 if the sum of a group's two best
            decides, or 0 if its best.
        norms: True if scores are probabilities (0) or sigmoids (1), whether probabilities are
            normalized (0 no), a factor of the weights, and a term of the divisor.
    """
    kept, number, two = groups
    kind, renorm, factor, epsilon = norms
    without(renorm=renorm or None)
    scores = sigmoid(x) if kind == 1 else softmax(x)
    chosen = scores if bias is None else scores + bias
    if number > 1:
        parts = chosen.reshape(len(x), number, -1)
        best = np.sort(parts, -1)[..., -2:].sum(-1) if two == 1 else parts.max(-1)
        left_out = np.argsort(-best, -1, kind="stable")[:, kept:]
        parts = np.array(parts)
        np.put_along_axis(parts, left_out[..., None], -np.inf, 1)
        chosen = parts.reshape(x.shape)
    order = np.argsort(-chosen, -1, kind="stable")[:, :k]
    weights = np.take_along_axis(scores, order, -1)
    if kind == 1:
        weights = weights / (weights.sum(-1, keepdims=True) + epsilon)
    return weights * factor, order, scores


def sinkhorn(cost: Array, tolerance: float) -> Array:
    """A matrix of routing whose rows and columns are balanced by turns until they change little.

    A tolerance that rounding alone exceeds ends it after `_MOST_ROUNDS`.
    """
    raised = np.exp(cost)
    rows, columns = np.ones(len(cost)), np.ones(cost.shape[1])
    for _ in range(_MOST_ROUNDS):
        rows = 1 / len(rows) / ((columns * raised).sum(1) + 1e-8)
        old, columns = columns, 1 / len(columns) / ((rows[:, None] * raised).sum(0) + 1e-8)
        if np.abs(old - columns).mean() <= tolerance:
            break
    return columns * raised * rows[:, None]
