# SPDX-License-Identifier: Apache-2.0
"""Spectra of short times, and bilinear samples of maps of several sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

Array = Any


def short_time_spectrum(
    x: Array, window: Array, size: int, hop: int, length: int, normalized: bool, onesided: bool
) -> Array:
    """The Fourier transforms of windows of a signal, (..., frequency, frame), without padding."""
    frames = np.lib.stride_tricks.sliding_window_view(x, size, -1)[..., ::hop, :]
    window = np.ones(length) if window is None else window
    left = (size - length) // 2
    frames = frames * np.pad(window, (left, size - length - left))
    made = np.fft.rfft(frames) if onesided and frames.dtype.kind == "f" else np.fft.fft(frames)
    return np.swapaxes(made, -1, -2) * (size**-0.5 if normalized else 1)


def deformable_attention(
    value: Array, sizes: Array, starts: Array, places: Array, weights: Array
) -> Array:
    """Weighted sums of bilinear samples of maps.

    Args:
        value: The elements of all maps in a row, (N, elements, heads, channels).
        sizes: The height and width of each map, (maps, 2).
        starts: The first element of each map, (maps,).
        places: Where samples lie in a map, x and y in [0, 1], (N, queries, heads, maps, points, 2).
        weights: Their weights, (N, queries, heads, maps, points).

    Returns:
        (N, queries, heads * channels).
    """
    batch, queries, heads = places.shape[:3]
    made = np.zeros((batch, queries, heads, value.shape[3]), np.float64)
    for level, at, (across, down), inside, _ in _corners(sizes, starts, places):
        share = across * down * weights[:, :, :, level]
        made += np.einsum("nqhp,nqhpc->nqhc", share * inside, value[at])
    return made.reshape(batch, queries, -1)


def _corners(sizes: Array, starts: Array, places: Array) -> Iterator[tuple[Any, ...]]:
    """The elements around samples: maps, places, shares, which are inside, and shares' slopes."""
    batch, _, heads = places.shape[:3]
    at, head = np.ogrid[:batch, :1, :heads, :1][::2]
    for level, ((height, width), start) in enumerate(zip(sizes, starts, strict=True)):
        x, y = (places[:, :, :, level, :, axis] * n - 0.5 for axis, n in ((0, width), (1, height)))
        for right, low in np.ndindex(2, 2):
            column, row = np.floor(x).astype(int) + right, np.floor(y).astype(int) + low
            across, down = 1 - np.abs(x - column), 1 - np.abs(y - row)
            inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
            place = np.where(inside, start + row * width + column, 0)
            slopes = ((2 * right - 1) * width * down, (2 * low - 1) * height * across)
            yield level, (at, place, head), (across, down), inside, slopes


def deformable_attention_back(
    value: Array, sizes: Array, starts: Array, given: tuple[Array, Array], gradient: Array
) -> tuple[Array, Array, Array]:
    """The gradients of `deformable_attention` by its maps, its places and its weights."""
    places, weights = given
    gradient = gradient.reshape(*places.shape[:3], -1)[:, :, :, None]
    by_value, by_place, by_weight = (np.zeros(x.shape) for x in (value, places, weights))
    for level, at, (across, down), inside, slopes in _corners(sizes, starts, places):
        own = weights[:, :, :, level]
        share = (across * down * inside)[..., None]
        np.add.at(by_value, at, share * own[..., None] * gradient)
        found = (value[at] * gradient).sum(-1) * inside
        by_weight[:, :, :, level] += found * across * down
        by_place[:, :, :, level] += np.stack(slopes, -1) * (found * own)[..., None]
    return by_value, by_place, by_weight
