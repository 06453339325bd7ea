# SPDX-License-Identifier: Apache-2.0
"""Samples of images and volumes at the points of a grid."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["grid_sampled", "grid_sampled_back"]

Array = Any
BILINEAR, NEAREST = 0, 1
ZEROS, BORDER, REFLECTION = 0, 1, 2


def _reflected(x: Array, low: float, high: float) -> tuple[Array, Array]:
    """Places reflected at two borders, and the slope of that."""
    span = high - low
    if span <= 0:
        return np.zeros_like(x), np.zeros_like(x)
    far = np.abs(x - low)
    turns, rest = np.floor(far / span), np.fmod(far, span)
    even = turns % 2 == 0
    slope = np.where(x < low, -1, 1) * np.where(even, 1, -1)
    return np.where(even, low + rest, high - rest), slope


def _places(grid: Array, count: int, padding: int, align: bool) -> tuple[Array, Array]:
    """Places along an axis for numbers from -1 to 1, and the slopes of them."""
    x = (grid + 1) / 2 * (count - 1) if align else ((grid + 1) * count - 1) / 2
    slope = np.full(x.shape, (count - 1 if align else count) / 2)
    if padding == ZEROS:
        return x, slope
    if padding == REFLECTION:
        x, turned = _reflected(x, *((0, count - 1) if align else (-0.5, count - 0.5)))
        slope = slope * turned
    return np.clip(x, 0, count - 1), slope * ((x > 0) & (x < count - 1))


def _corners(
    x: Array, grid: Array, mode: int, padding: int, align: bool
) -> Iterator[tuple[tuple[Array, ...], Array, list[Array]]]:
    """The elements around each point: their places, shares, and the slopes of the shares.

    Raises:
        NotImplementedError: The mode is neither bilinear nor nearest.
    """
    if mode not in (BILINEAR, NEAREST):
        raise NotImplementedError(f"interpolationMode {mode} is not computed")
    sizes = x.shape[2:]
    axes = [
        _places(grid[..., len(sizes) - 1 - axis], count, padding, align)
        for axis, count in enumerate(sizes)
    ]
    for corner in np.ndindex(*((2 if mode == BILINEAR else 1,) * len(sizes))):
        at = [
            (np.rint(place) if mode == NEAREST else np.floor(place) + side).astype(int)
            for side, (place, _) in zip(corner, axes, strict=True)
        ]
        inside = math.prod((i >= 0) & (i < n) for i, n in zip(at, sizes, strict=True))
        shares = [
            np.ones(i.shape) if mode == NEAREST else 1 - np.abs(place - i)
            for i, (place, _) in zip(at, axes, strict=True)
        ]
        slopes = [
            inside * (mode == BILINEAR) * (2 * side - 1) * slope
            * math.prod((share for other, share in enumerate(shares) if other != axis), start=1)
            for axis, (side, (_, slope)) in enumerate(zip(corner, axes, strict=True))
        ]  # fmt: skip
        batch = np.arange(len(x)).reshape(-1, *[1] * len(sizes))
        places = (batch, slice(None), *(np.where(inside, i, 0) for i in at))
        yield places, math.prod(shares) * inside, slopes[::-1]


def grid_sampled(x: Array, grid: Array, mode: int, padding: int, align: bool) -> Array:
    """The samples of images or volumes at the points of a grid.

    Args:
        x: Images, (N, C, *sizes).
        grid: Points, whose last numbers are those of the first size, (N, *points, sizes).
        mode: 0 linear, 1 nearest.
        padding: Outside are 0 zeros, 1 the border, 2 reflections.
        align: Whether -1 and 1 are the centres of the outer elements; else their borders.
    """
    found = sum(
        x[at] * share[..., None] for at, share, _ in _corners(x, grid, mode, padding, align)
    )
    return np.moveaxis(found, -1, 1)


def grid_sampled_back(
    gradient: Array, x: Array, grid: Array, mode: int, padding: int, align: bool
) -> tuple[Array, Array]:
    """The gradients of `grid_sampled` by its images and by its grid."""
    by_image, by_grid = np.zeros(x.shape), np.zeros(grid.shape)
    last = np.moveaxis(gradient, 1, -1)
    for at, share, slopes in _corners(x, grid, mode, padding, align):
        np.add.at(by_image, at, last * share[..., None])
        by_grid += np.stack(slopes, -1) * (x[at] * last).sum(-1)[..., None]
    return by_image, by_grid
