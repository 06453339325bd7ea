# SPDX-License-Identifier: Apache-2.0
"""Sequences of language models: their caches, next steps, and compressed keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = Any


def advanced(
    tokens: Array, lengths: Array, tables: Array, states: Array, counts: tuple[int, int]
) -> tuple[Array, ...]:
    """The next step of the first sequences: tokens, positions, lengths, and slots in a cache.

    Args:
        tokens: Those of the last step, and sampled ones, one a sequence.
        lengths: The lengths of sequences.
        tables: The blocks of the cache of each sequence.
        states: Positions and slots of the last step.
        counts: Number of sequences that take a step, and the size of a block.
    """
    number, size = counts
    made = [np.array(x) for x in (tokens[0], states[0], lengths, states[1])]
    positions = lengths[:number]
    blocks = tables[np.arange(number), positions // size]
    slots = blocks * size + positions % size
    found = tokens[1].reshape(-1)[:number], positions, positions + 1, slots
    for x, new in zip(made, found, strict=True):
        x[:number] = new
    return tuple(made)


def gathered_cache(
    cache: Array, tables: Array, lengths: Array, starts: Array, results: Array, cumulative: bool
) -> Array:
    """The rows of sequences out of the blocks of a cache, one sequence behind the other.

    Args:
        cache: Blocks of rows, (blocks, size, heads, elements).
        tables: The blocks of each sequence.
        lengths: The lengths of sequences, or where they begin and end.
        starts: The first row of each sequence, or None for 0.
        results: Values of the result where no row is written.
        cumulative: True if lengths are cumulative.
    """
    made, at = np.array(results), 0
    counts = np.diff(lengths) if cumulative else lengths
    for sequence, count in enumerate(counts):
        first = 0 if starts is None else starts[sequence]
        places = first + np.arange(count)
        blocks = tables[sequence][places // cache.shape[1]]
        made[at : at + count] = cache[blocks, places % cache.shape[1]]
        at += count
    return made


def _windows(ends: Sequence[int], size: int, step: int) -> list[int]:
    """The first rows of the windows of all sequences."""
    pairs = zip((0, *ends[:-1]), ends, strict=True)
    return [row for first, last in pairs for row in range(first, last - size + 1, step)]


def compressed(x: Array, weight: Array, ends: Sequence[int], step: int) -> Array:
    """Weighted sums of the windows of sequences.

    Args:
        x: Rows of all sequences, (T, heads, elements).
        weight: The weights of the rows of a window, (size, heads).
        ends: Where sequences end.
        step: The distance of windows.
    """
    windows = [x[row : row + len(weight)] for row in _windows(ends, len(weight), step)]
    return np.einsum("wshd,sh->whd", np.reshape(windows, (-1, len(weight), *x.shape[1:])), weight)


def compressed_back(
    gradient: Array, x: Array, weight: Array, ends: Sequence[int], step: int
) -> tuple[Array, Array]:
    """The gradients of `compressed` by its rows and by its weights."""
    rows, weights = np.zeros(x.shape), np.zeros(weight.shape)
    for each, row in zip(gradient, _windows(ends, len(weight), step), strict=False):
        window = slice(row, row + len(weight))
        rows[window] += each * weight[..., None]
        weights += (each * x[window]).sum(-1)
    return rows, weights
