# SPDX-License-Identifier: Apache-2.0
"""Random numbers that a seed and an offset determine; they are others than CANN's."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any


def drawn(seed: int, offset: int, seeds: Array = None, offsets: Array = None) -> Any:
    """Return the generator of a seed and an offset, which tensors of one element may hold."""
    if seeds is not None:
        seed, offset = int(np.reshape(seeds, -1)[0]), int(np.reshape(offsets, -1)[0]) + offset
    return np.random.Generator(np.random.Philox(key=seed % 2**64, counter=offset % 2**64))


def keep_bits(results: Array, drop: float, random: np.random.Generator) -> Array:
    """A mask of dropout: bytes whose bits are 1 where an element is kept."""
    kept = random.random(results.size * 8, np.float32) >= drop
    return np.packbits(kept, bitorder="little").reshape(results.shape)


def bits_kept(mask: Array, x: Array) -> Array:
    """The bits of a mask of dropout in the shape of a tensor."""
    return np.unpackbits(mask.ravel(), bitorder="little")[: x.size].reshape(x.shape)


def multinomial(weights: Array, count: int, again: bool, random: np.random.Generator) -> Array:
    """Places drawn by their weights, each once if not ``again``, a row each."""
    rows = weights.reshape(-1, weights.shape[-1]).astype(np.float64)
    if again:
        sums = np.cumsum(rows, -1)
        at = random.random((len(rows), count)) * sums[:, -1:]
        found = np.stack([np.searchsorted(s, a, "right") for s, a in zip(sums, at, strict=True)])
    else:
        keys = np.log(random.random(rows.shape)) / np.maximum(rows, 1e-300)
        found = np.argsort(-keys, -1)[:, :count]
    return np.minimum(found, weights.shape[-1] - 1).reshape(*weights.shape[:-1], count)
