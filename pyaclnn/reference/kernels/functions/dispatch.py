# SPDX-License-Identifier: Apache-2.0
"""Mixtures of experts whose experts lie on different ranks: dispatch and combination of tokens.

A rank has an equal share of the experts. Received rows are in the order of its experts, then of the
ranks that send them, then of their tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.kernels.functions.attention import without
from pyaclnn.reference.kernels.functions.basic import rms_normed
from pyaclnn.reference.kernels.functions.exchange import all_to_all_v
from pyaclnn.reference.kernels.functions.quantized import dynamic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.reference.kernels.functions.exchange import Group

Array = Any
Arrays = tuple[Array, ...]


def residual_norm(x: Array, residual: Array, gamma: Array, epsilon: float) -> tuple[Array, Array]:
    """The sum with a residual, and its RMS norm."""
    total = x.reshape(residual.shape) + residual
    return total, rms_normed(total, gamma, epsilon)[0]


def one_group(group: Group, rank: int, tensor_ranks: int, shared_ranks: int) -> Group:
    """A group of experts alone, without ranks of tensors or of shared experts.

    Raises:
        NotImplementedError: There are such ranks.
        ValueError: The rank has another number in the group.
    """
    without(tpWorldSize=max(tensor_ranks - 1, 0) or None, sharedExpertRankNum=shared_ranks or None)
    if not group.in_trial and rank != group.rank:
        raise ValueError(f"epRankId is {rank}; the rank has the number {group.rank} in its group")
    return group


def group_product_of(rows: Array, weight: Array, ends: Array) -> Array:
    """The product of rows with the matrix of their group."""
    parts = np.split(rows, ends[:-1])
    return np.concatenate([part @ matrix for part, matrix in zip(parts, weight, strict=True)])


def _pieces(rows: Array, counts: Array) -> list[Array]:
    return np.split(rows, np.cumsum(counts.reshape(-1))[:-1])


def rows_received(
    x: Array, sent: Sequence[int], received: Sequence[int], group: Group
) -> tuple[Array, Array]:
    """Rows for experts of all ranks, each where its expert is, and where those of an expert end.

    Args:
        x: Rows in the order of the experts of all ranks.
        sent: Number of rows of each of these experts.
        received: Number of rows for this rank's experts from each rank, in order.
        group: The group.
    """
    to, of = (np.reshape(counts, (group.ranks, -1)) for counts in (sent, received))
    rows = all_to_all_v(_pieces(x[: to.sum()], to.sum(1)), of.sum(1).tolist())
    parts = [_pieces(each, counts) for each, counts in zip(rows, of, strict=True)]
    whole = np.concatenate([each[expert] for expert in range(of.shape[1]) for each in parts])
    return whole, np.cumsum(of.sum(0))


def rows_returned(
    x: Array, weight: Array, sent: Sequence[int], received: Sequence[int], group: Group
) -> Array:
    """The products of rows with the matrices of this rank's experts, each back where it is from.

    Args:
        x: Rows in the order of this rank's experts, of each by the ranks they go to.
        weight: The experts' matrices.
        sent: Number of rows to each rank from each of this rank's experts, in order.
        received: Number of rows from the experts of all ranks.
        group: The group.
    """
    to, of = (np.reshape(counts, (group.ranks, -1)) for counts in (sent, received))
    made = group_product_of(x[: to.sum()], weight, np.cumsum(to.sum(0)))
    parts = _pieces(made, to.T)
    each = [np.concatenate(parts[rank :: group.ranks]) for rank in range(group.ranks)]
    return np.concatenate(all_to_all_v(each, of.sum(1).tolist()))


def _chosen(experts: Array, mask: Array, count: int) -> Array:
    """The experts of each token, -1 for those that no rank has, and of tokens that are inactive."""
    active = True if mask is None else mask.reshape(len(experts), -1)
    return np.where((experts >= 0) & (experts < count) & active, experts, -1)


def dispatched(
    x: Array, experts: Array, given: Arrays, results: Arrays, group: Group, count: int, modes: Any
) -> Arrays:
    """The tokens of all ranks for this rank's experts.

    Args:
        x: Tokens, (T, H).
        experts: The experts of each, (T, K).
        given: Factors of each expert before a quantization, active tokens, and the weights of the
            experts of each token; or None.
        results: Rows, their scales, where they are from, how many each expert has, where those of
            an expert from a rank end, and their weights.
        group: The group.
        count: Number of experts of the group.
        modes: The quantization (0 none, 2 of each row), and whether numbers of an expert's rows are
            cumulative (0) or counts (1).
    """
    factors, mask, weights = given
    rows, scales, origins, numbers, ends, row_weights = results
    without(quantMode=None if modes[0] in (0, 2) else modes[0])
    chosen = _chosen(experts, mask, count)
    token, choice = np.nonzero(chosen >= 0)
    place = np.stack([np.full(len(token), group.rank), token, choice], -1)
    own = np.zeros(len(token)) if weights is None else weights[token, choice]
    made, start = [], group.rank * (count // group.ranks)
    for sender, (xs, ids, where, shares) in enumerate(
        group.everyone((x[token], chosen[token, choice], place, own))
    ):
        mine = (ids >= start) & (ids < start + count // group.ranks)
        local = ids[mine] - start
        made.append((xs[mine], local, where[mine], shares[mine], np.full(len(local), sender)))
    tokens, local, where, shares, source = map(np.concatenate, zip(*made, strict=True))
    order = np.lexsort((source, local))[: len(rows) if group.in_trial else None]
    if len(order) > len(rows):
        raise ValueError(f"{len(order)} tokens come to a tensor of {len(rows)} rows")
    of_each = np.zeros((count // group.ranks, group.ranks), np.int64)
    np.add.at(of_each, (local, source), 1)
    tokens = tokens[order]
    quantized_scales = None
    if modes[0]:
        smooth = 1 if factors is None else factors[start + local[order]]
        tokens, quantized_scales, _ = dynamic(tokens * smooth, rows)
    kept = of_each.sum(1)
    return (
        _filled(tokens, rows),
        None if quantized_scales is None or scales is None else _filled(quantized_scales, scales),
        _origins(where[order], origins, experts, len(rows)),
        _filled(kept if modes[1] else np.cumsum(kept), numbers),
        _filled(np.cumsum(of_each), ends),
        None,
        None if weights is None or row_weights is None else _filled(shares[order], row_weights),
    )


def _filled(values: Array, results: Array) -> Array:
    """Values in front of a tensor, whose rest is NaN, or 0 of integers."""
    real = results.dtype.kind not in "iu"
    made = np.full(results.shape, np.nan if real else 0, np.float32 if real else results.dtype)
    made[: len(values)] = values
    return made


def _origins(where: Array, results: Array, experts: Array, room: int) -> Array:
    """The rank, token and choice of each row; of a number a choice its place among its expert's."""
    if results.size == experts.size:
        flat = experts.reshape(-1)
        return np.tril(flat[:, None] == flat, -1).sum(1)
    made = np.zeros((room, results.size // max(room, 1)), np.int64)
    made[: len(where), : where.shape[1]] = where
    return made.reshape(results.shape)


def brought_back(
    rows: Array, experts: Array, given: Arrays, group: Group, count: int, special: Any
) -> Array:
    """The rows of each token's experts, weighted and summed where the token is from.

    Args:
        rows: The rows of this rank's experts, as `dispatched` orders them.
        experts: The experts of this rank's tokens, (T, K).
        given: Where the rows of an expert for a rank end, the weight of each choice, (T, K), and
            active tokens, or None.
        group: The group.
        count: Number of experts of the group.
        special: Numbers of the experts behind those that give zeros, behind them the token itself,
            and the tokens or None.
    """
    share, (ends, weights, mask) = count // group.ranks, given
    counts = np.diff(ends.reshape(-1)[: share * group.ranks].astype(np.int64), prepend=0)
    counts = counts * (not group.in_trial)
    parts = _pieces(rows[: counts.sum()], counts)
    each = [np.concatenate(parts[rank :: group.ranks]) for rank in range(group.ranks)]
    chosen = _chosen(experts, mask, count)
    owner = np.where(chosen < 0, -1, chosen // max(share, 1))
    expected = [int((owner == rank).sum()) for rank in range(group.ranks)]
    received = np.concatenate(all_to_all_v(each, expected))
    token, choice = np.nonzero(chosen >= 0)
    order = np.argsort(chosen[token, choice], kind="stable")
    made = np.zeros((len(experts), rows.shape[1]), np.float32)
    np.add.at(made, token[order], received * weights[token, choice][order][:, None])
    zeros, copies, tokens = special
    first = count + zeros
    copied = (experts >= first) & (experts < first + copies)
    if copies and tokens is None:
        raise ValueError("oriX is NULL; experts that copy their token need it")
    return made + ((weights * copied).sum(1, keepdims=True) * tokens if copies else 0)
