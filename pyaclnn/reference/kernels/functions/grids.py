# SPDX-License-Identifier: Apache-2.0
"""Samples of images and volumes at the points of a grid."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Array = Any
NEAREST, BICUBIC = 1, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2


def affine_grid(theta: Array, size: Sequence[int], align: bool) -> Array:
    """Points from -1 to 1 of images, each moved by a matrix; the last axis comes first."""
    axes = [
        np.linspace(-1, 1, count) if align and count > 1 else (2 * np.arange(count) + 1) / count - 1
        for count in size[2:]
    ]
    points = np.stack([*np.meshgrid(*axes, indexing="ij")[::-1], np.ones(size[2:])], -1)
    return np.einsum("...k,njk->n...j", points, theta)


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


def _padded(x: Array, count: int, padding: int, align: bool) -> tuple[Array, Array]:
    """Places along an axis moved inside if that is asked for, and the slopes of that."""
    slope = np.ones(x.shape)
    if padding == ZEROS:
        return x, slope
    if padding == REFLECTION:
        x, slope = _reflected(x, *((0, count - 1) if align else (-0.5, count - 0.5)))
    return np.clip(x, 0, count - 1), slope * ((x > 0) & (x < count - 1))


def _cubic(apart: Array) -> tuple[Array, Array]:
    """The share of an element in a cubic interpolation by its distance, and its slope."""
    far = np.abs(apart)
    near = far <= 1
    share = np.where(
        near, (1.25 * far - 2.25) * far**2 + 1, (((5 - far) * far - 8) * far + 4) * 0.75
    )
    slope = np.where(near, (3.75 * far - 4.5) * far, ((10 - 3 * far) * far - 8) * 0.75)
    return share, slope * np.sign(apart)


def _taps(
    grid: Array, count: int, mode: int, padding: int, align: bool
) -> Iterator[tuple[Array, Array, Array]]:
    """The elements of an axis that numbers from -1 to 1 lie among: places, shares, their slopes."""
    x = (grid + 1) / 2 * (count - 1) if align else ((grid + 1) * count - 1) / 2
    scale = (count - 1 if align else count) / 2
    if mode == BICUBIC:
        for place in (np.floor(x) + step for step in (-1, 0, 1, 2)):
            share, slope = _cubic(x - place)
            yield _padded(place, count, padding, align)[0], share, slope * scale
        return
    x, moved = _padded(x, count, padding, align)
    if mode == NEAREST:
        yield np.rint(x), np.ones(x.shape), np.zeros(x.shape)
        return
    for side in (0, 1):
        place = np.floor(x) + side
        yield place, 1 - np.abs(x - place), (2 * side - 1) * moved * scale


def _corners(
    x: Array, grid: Array, mode: int, padding: int, align: bool
) -> Iterator[tuple[tuple[Array, ...], Array, list[Array]]]:
    """The elements around each point: their places, shares, and the slopes of the shares."""
    sizes = x.shape[2:]
    batch = np.arange(len(x)).reshape(-1, *[1] * len(sizes))
    taps = [
        [*_taps(grid[..., len(sizes) - 1 - axis], count, mode, padding, align)]
        for axis, count in enumerate(sizes)
    ]
    for corner in itertools.product(*taps):
        at = [place.astype(int) for place, _, _ in corner]
        inside = math.prod((i >= 0) & (i < n) for i, n in zip(at, sizes, strict=True))
        shares = [share for _, share, _ in corner]
        slopes = [
            math.prod([*shares[:axis], slope, *shares[axis + 1 :]]) * inside
            for axis, (_, _, slope) in enumerate(corner)
        ]
        places = (batch, slice(None), *(np.where(inside, i, 0) for i in at))
        yield places, math.prod(shares) * inside, slopes[::-1]


def grid_sampled(x: Array, grid: Array, mode: int, padding: int, align: bool) -> Array:
    """The samples of images or volumes at the points of a grid.

    Args:
        x: Images, (N, C, *sizes).
        grid: Points, whose last numbers are those of the first size, (N, *points, sizes).
        mode: 0 linear, 1 nearest, 2 cubic.
        padding: Outside are 0 zeros, 1 the border, 2 reflections.
        align: True if -1 and 1 are the centres of the outer elements; else their borders.
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
