# SPDX-License-Identifier: Apache-2.0
"""Convolutions, pools and changes of size: functions of windows of the last axes.

Pools of means and changes of size are linear along each axis, so that a matrix an axis states them,
and its transpose their gradient.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.kernels.promotion import indices_within

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

Array = Any
Window = tuple[Any, Any, Any]
"""Stride, padding and dilation of a convolution, or what a function says of each axis."""


def wide_to(values: Sequence[int] | int | None, rank: int, default: int = 1) -> tuple[int, ...]:
    """One number for each axis; a single one counts for all."""
    found = (values,) if isinstance(values, int) else tuple(values or ()) or (default,)
    return found * rank if len(found) == 1 else found


def _offsets(
    kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int], count: Sequence[int]
) -> Iterator[tuple[tuple[int, ...], tuple[Any, ...]]]:
    """The places in a kernel, and the elements of an input that lie there in all windows."""
    for offset in np.ndindex(*kernel):
        rows = zip(offset, stride, dilation, count, strict=True)
        yield offset, (..., *(slice(o * d, o * d + s * (n - 1) + 1, s) for o, s, d, n in rows))


def _last(places: Iterable[Any]) -> Any:
    """An index of the last axes."""
    return (..., *places)


def _padded(x: Array, padding: Sequence[int], value: float = 0) -> Array:
    """Pad the last axes on both sides."""
    widths = [(0, 0)] * (x.ndim - len(padding)) + [(p, p) for p in padding]
    return np.pad(x, widths, constant_values=value)


def _spans(window: Window, rank: int) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Stride, padding and dilation of each axis."""
    stride, padding, dilation = window
    return wide_to(stride, rank), wide_to(padding, rank, 0), wide_to(dilation, rank)


def convolved(x: Array, w: Array, b: Any, window: Window, groups: int = 1) -> Array:
    """A convolution of ``(N, C, ...)``, or ``(C, ...)``, with ``(C', C / groups, ...)``."""
    rank = w.ndim - 2
    if x.ndim == rank + 1:
        return convolved(x[None], w, b, window, groups)[0]
    stride, padding, dilation = _spans(window, rank)
    is_zero = x.size > 0 and not any(x.strides) and not x[(0,) * x.ndim]  # as in a trial
    x = _padded(x, padding)
    rows = zip(x.shape[2:], w.shape[2:], stride, dilation, strict=True)
    count = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in rows]
    made = np.zeros((x.shape[0], groups, w.shape[0] // groups, *count), x.dtype)
    split = w.reshape(groups, -1, *w.shape[1:])
    offsets = _offsets(w.shape[2:], stride, dilation, count)
    for offset, places in itertools.islice(offsets, 1) if is_zero else offsets:
        part = x[places].reshape(x.shape[0], groups, w.shape[1], *count)
        made += np.einsum("ngi...,goi->ngo...", part, split[_last(offset)])
    made = made.reshape(x.shape[0], w.shape[0], *count)
    return made if b is None else made + b.reshape(-1, *[1] * rank)


def convolved_back(y: Array, w: Array, size: Any, window: Window, groups: int = 1) -> Array:
    """The gradient of a convolution by its input of a size: a transposed convolution."""
    rank = w.ndim - 2
    if y.ndim == rank + 1:
        return convolved_back(y[None], w, size, window, groups)[0]
    stride, padding, dilation = _spans(window, rank)
    count, spatial = y.shape[2:], tuple(size)[-rank:]
    rows = zip(spatial, padding, count, w.shape[2:], stride, dilation, strict=True)
    full = [max(n + 2 * p, s * (m - 1) + d * (k - 1) + 1) for n, p, m, k, s, d in rows]
    made = np.zeros((y.shape[0], w.shape[1] * groups, *full), y.dtype)
    split = w.reshape(groups, -1, *w.shape[1:])
    parts = y.reshape(y.shape[0], groups, w.shape[0] // groups, *count)
    for offset, places in _offsets(w.shape[2:], stride, dilation, count):
        found = np.einsum("ngo...,goi->ngi...", parts, split[_last(offset)])
        made[places] += found.reshape(*made.shape[:2], *count)
    return made[_last(slice(p, p + n) for p, n in zip(padding, spatial, strict=True))]


def convolved_weight(x: Array, y: Array, shape: Any, window: Window, groups: int = 1) -> Array:
    """The gradient of a convolution by its weight of a shape."""
    rank = len(shape) - 2
    if x.ndim == rank + 1:
        x, y = x[None], y[None]
    stride, padding, dilation = _spans(window, rank)
    x, count = _padded(x, padding), y.shape[2:]
    parts = y.reshape(y.shape[0], groups, y.shape[1] // groups, math.prod(count))
    made = np.zeros((groups, shape[0] // groups, *shape[1:]), x.dtype)
    for offset, places in _offsets(shape[2:], stride, dilation, count):
        part = x[places].reshape(x.shape[0], groups, shape[1], math.prod(count))
        made[_last(offset)] = np.einsum("ngil,ngol->goi", part, parts)
    return made.reshape(shape)


def columns(x: Array, kernel: Any, window: Window) -> Array:
    """The windows of ``(N, C, H, W)``, a column each."""
    if x.ndim == 3:  # noqa: PLR2004  # without a batch
        return columns(x[None], kernel, window)[0]
    kernel, (stride, padding, dilation) = wide_to(kernel, 2), _spans(window, 2)
    x = _padded(x, padding)
    rows = zip(x.shape[2:], kernel, stride, dilation, strict=True)
    count = [(n - d * (k - 1) - 1) // s + 1 for n, k, s, d in rows]
    parts = [x[places] for _, places in _offsets(kernel, stride, dilation, count)]
    return np.stack(parts, 2).reshape(x.shape[0], -1, math.prod(count))


def _windows(x: Array, window: tuple[Any, ...], results: Array, rank: int) -> tuple[Array, Array]:
    """The elements of each window, and their places in the last axes: -1 in the padding.

    A window is a kernel, its stride, padding and dilation.
    """
    kernel, stride, padding, dilation = window
    kernel, dilation = wide_to(kernel, rank), wide_to(dilation, rank)
    stride, padding = wide_to(stride or kernel, rank), wide_to(padding, rank, 0)
    count, spatial = results.shape[-rank:], x.shape[-rank:]
    rows = zip(kernel, stride, dilation, count, spatial, padding, strict=True)
    after = [max(s * (n - 1) + d * (k - 1) + 1 - m - p, p) for k, s, d, n, m, p in rows]
    widths = [(0, 0)] * (x.ndim - rank) + [*zip(padding, after, strict=True)]
    low = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    values = np.pad(x, widths, constant_values=low)
    numbered = np.arange(math.prod(spatial)).reshape(spatial)
    places = np.pad(numbered, widths[-rank:], constant_values=-1)
    seen = [at for _, at in _offsets(kernel, stride, dilation, count)]
    where = np.stack([places[at] for at in seen], -1)
    return np.where(where >= 0, np.stack([values[at] for at in seen], -1), low), where


def max_pooled(x: Array, window: tuple[Any, ...], results: Array, rank: int) -> tuple[Array, Array]:
    """The largest element of each window, and its place in the last axes without padding."""
    inside, where = _windows(x, window, results, rank)
    best = np.argmax(inside, -1)[..., None]
    chosen = np.take_along_axis(inside, best, -1)[..., 0]
    return chosen, np.take_along_axis(np.broadcast_to(where, inside.shape), best, -1)[..., 0]


def max_masked(x: Array, window: Any, results: Array, mask: Array) -> tuple[Array, Array]:
    """The largest element of each window of two axes, and its place in the window as a mask.

    A mask has bytes for each place in a window: 1 in the byte of each window that has its largest
    element there. CANN has bits, in an order that is not published.
    """
    inside, _ = _windows(x, window, results, 2)
    here = np.argmax(inside, -1)[..., None] == np.arange(inside.shape[-1])
    bits = np.moveaxis(here, -1, -3).reshape(*x.shape[:-2], -1)
    found = np.zeros(mask.shape, np.int8)
    row = found.reshape(*x.shape[:-2], -1)
    count = min(row.shape[-1], bits.shape[-1])  # a trial has less room
    row[..., :count] = bits[..., :count]
    return inside.max(-1), found


def masked_places(mask: Array, window: tuple[Any, ...], gradient: Array, x: Array) -> Array:
    """The places in the last two axes that a mask of `max_masked` names."""
    _, where = _windows(x, window, gradient, 2)
    where = where.reshape(-1, where.shape[-1]).T
    row = mask.reshape(*x.shape[:-2], -1)
    bits = row.take(np.arange(where.size), -1, mode="clip").reshape(*row.shape[:-1], *where.shape)
    return np.maximum(where[bits.argmax(-2), np.arange(where.shape[1])], 0)


def spread(gradient: Array, indices: Array, x: Array, rank: int) -> Array:
    """A gradient added to the elements, by their places in the last axes, that it came from."""
    size, count = math.prod(x.shape[-rank:]), math.prod(gradient.shape[-rank:])
    rows = np.arange(gradient.size // max(count, 1))[:, None] * size
    flat = (rows + indices_within("indices", indices, size).reshape(-1, count)).ravel()
    return np.bincount(flat, gradient.ravel(), x.size).reshape(x.shape)


def unpooled(x: Array, indices: Array, results: Array, rank: int) -> Array:
    """Zeros in the shape of a result, with elements at places in its last axes."""
    count, size = math.prod(x.shape[-rank:]), math.prod(results.shape[-rank:])
    rows = x.reshape(math.prod(x.shape[:-rank]), count)
    made = np.zeros((len(rows), size), x.dtype)
    np.put_along_axis(made, indices_within("indices", indices, size).reshape(rows.shape), rows, 1)
    return made.reshape(results.shape)


def mixed(x: Array, matrices: Sequence[Array]) -> Array:
    """A tensor whose last axes are each multiplied by a matrix; its zeros hide NaN and infinity."""
    for place, matrix in enumerate(matrices):
        axis, rows = place - len(matrices), matrix.astype(x.dtype)
        made = np.tensordot(x, rows, (axis, 1))
        if not np.isfinite(x).all():
            lines = np.moveaxis(x, axis, -1)
            made = np.stack([lines[..., row != 0] @ row[row != 0] for row in rows], -1)
        x = np.moveaxis(made, -1, axis)
    return x


def _mean_windows(
    size: Sequence[int], count: Sequence[int], window: Window, padded: bool, override: int
) -> tuple[list[Array], Array]:
    """The matrices that add up the windows of a pool, one an axis, and the windows' divisors.

    A window is a kernel, its stride and padding.
    """
    rank, (kernel, stride, padding) = len(count), window
    kernel = wide_to(kernel, rank)
    stride, padding = wide_to(stride or kernel, rank), wide_to(padding, rank, 0)
    matrices, counts = [], []
    for n, k, s, p, m in zip(tuple(size)[-rank:], kernel, stride, padding, count, strict=True):
        start, places = np.arange(m) * s - p, np.arange(n)
        inside = (places >= start[:, None]) & (places < start[:, None] + k)
        matrices.append(inside.astype(np.float64))
        end = np.minimum(start + k, n + p)
        counts.append(end - start if padded else np.minimum(end, n) - np.maximum(start, 0))
    if override:
        return matrices, np.full(tuple(count), float(override))
    return matrices, functools.reduce(np.multiply.outer, counts).astype(np.float64)


def mean_pooled(x: Array, count: Sequence[int], *rule: Any) -> Array:
    """The means of windows; padding counts if asked for, unless another divisor is given."""
    matrices, divisor = _mean_windows(x.shape, count, *rule)
    return mixed(x, matrices) / divisor


def mean_pooled_back(y: Array, size: Sequence[int], rank: int, *rule: Any) -> Array:
    """The gradient of `mean_pooled` by a tensor of a size."""
    matrices, divisor = _mean_windows(size, y.shape[-rank:], *rule)
    return mixed(y / divisor, [matrix.T for matrix in matrices])


def adaptive(size: Sequence[int], count: Sequence[int]) -> list[Array]:
    """The matrices of an adaptive pool of means, one an axis."""
    made = []
    for n, m in zip(size, count, strict=True):
        start, end = np.arange(m) * n // m, -(-(np.arange(m) + 1) * n // m)
        inside = (np.arange(n) >= start[:, None]) & (np.arange(n) < end[:, None])
        made.append(inside / (end - start)[:, None])
    return made


def adaptive_max(x: Array, count: Sequence[int]) -> tuple[Array, Array]:
    """The largest element of each window of an adaptive pool, and its place in the last axes.

    One axis after the other, the last one first: of equal elements the first one counts.
    """
    spatial, best = x.shape[-len(count) :], x
    found: list[Array] = []
    for axis, matrix in reversed([*enumerate(adaptive(spatial, count), -len(count))]):
        lines = np.moveaxis(best, axis, -1)
        picks = np.stack([np.argmax(np.where(row, lines, -np.inf), -1) for row in matrix > 0], -1)
        best = np.moveaxis(np.take_along_axis(lines, picks, -1), -1, axis)
        picks = np.moveaxis(picks, -1, axis)
        found = [picks, *(np.take_along_axis(each, picks, axis) for each in found)]
    place: Array = 0
    for picks, length in zip(found, spatial, strict=True):
        place = picks + place * length
    return best, place


def _cubic(t: Array, a: float) -> Array:
    t = np.abs(t)
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    return np.where(t < 1, near, np.where(t < 2, (((t - 5) * t + 8) * t - 4) * a, 0))  # noqa: PLR2004


def _resizing(n: int, m: int, mode: str, align: bool, scale: float) -> Array:
    """The matrix that changes the size of an axis from ``n`` to ``m``."""
    ratio = 1 / scale if scale and scale > 0 else n / m
    if align:
        ratio = (n - 1) / (m - 1) if m > 1 else 0.0
    if mode in ("nearest", "exact"):
        middle = 0.5 if mode == "exact" else 0.0
        at = np.floor((np.arange(m, dtype=np.float32) + middle) * np.float32(ratio)).astype(int)
        return np.eye(n)[np.minimum(at, n - 1)]
    if mode.startswith("wide"):  # antialiased: the kernel grows with the ratio
        reach = max(ratio, 1.0)
        centre = ((np.arange(m) + 0.5) * ratio)[:, None]
        distance = (np.arange(n) + 0.5 - centre) / reach
        cubic = mode == "wide cubic"
        weights = _cubic(distance, -0.5) if cubic else np.maximum(1 - np.abs(distance), 0)
        return weights / weights.sum(1, keepdims=True)
    at = np.arange(m) * ratio if align else (np.arange(m) + 0.5) * ratio - 0.5
    at = at if mode == "cubic" else np.maximum(at, 0)
    made, first = np.zeros((m, n)), np.floor(at).astype(int)
    for step in range(-1, 3):
        place = np.clip(first + step, 0, n - 1)
        distance = at - (first + step)
        weight = _cubic(distance, -0.75) if mode == "cubic" else np.maximum(1 - np.abs(distance), 0)
        np.add.at(made, (np.arange(m), place), weight)
    return made


def _matrices(
    size: Sequence[int], count: Sequence[int], mode: str, align: bool = False, scales: Any = ()
) -> list[Array]:
    given = [scale for scale in scales or () if scale is not None] or [0] * len(count)
    rows = zip(tuple(size)[-len(count) :], count, given, strict=True)
    return [_resizing(n, m, mode, align, scale) for n, m, scale in rows]


def resized(x: Array, count: Sequence[int], *rule: Any) -> Array:
    """A tensor with other lengths of its last axes, interpolated by a mode, ends, and scales."""
    return mixed(x, _matrices(x.shape, count, *rule))


def resized_back(y: Array, size: Sequence[int], *rule: Any) -> Array:
    """The gradient of `resized` by a tensor of a size."""
    return mixed(y, [matrix.T for matrix in _matrices(size, y.shape[2:], *rule)])
