# SPDX-License-Identifier: Apache-2.0
"""Operators of graphs for which aclnn has no operator of the same arguments."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from pyaclnn.reference.arithmetic.norms import norms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Array = Any
_WORD = 16
_INFINITE = 2.0**31
_IMAGES = 4
"""Axes of a batch of images."""
_STATES = 3
"""Axes of the states of a recurrent layer: time, batch, features."""


def swapped(x: Array, swap: bool) -> Array:
    """Return a matrix, or stack of matrices, transposed if asked for."""
    return np.swapaxes(x, -1, -2) if swap else x


def matrix_product(x1: Array, x2: Array, bias: Array, swap1: bool, swap2: bool) -> Array:
    """Multiply matrices in float32, integers as integers.

    Raises:
        ValueError: The lengths of the axes along which to add differ.
    """
    wide = [x.astype(np.int64 if x.dtype.kind in "iu" else np.float32) for x in (x1, x2)]
    a, b = swapped(wide[0], swap1), swapped(wide[1], swap2)
    if a.shape[-1] != (rows := b.shape[max(b.ndim - 2, 0)]):
        raise ValueError(
            f"axis {-2 if swap1 else -1} of x1 has length {a.shape[-1]}, axis "
            f"{-1 if swap2 else -2} of x2 has {rows}; they must be equal"
        )
    product = a @ b
    return product if bias is None else product + bias


def reduced(function: Any, x: Array, axes: Any, keep: bool, idle: bool = False) -> Array:
    """Reduce along axes: a number, numbers, or a tensor; none for all, or if ``idle`` for none."""
    chosen = tuple(int(axis) for axis in np.reshape(axes, -1)) or (() if idle else None)
    wide = x.astype(np.float32) if x.dtype.kind not in "iub" else x
    return function(wide, axis=chosen, keepdims=bool(keep))


def cdist(x1: Array, x2: Array, p: float) -> Array:
    """Return the p-norms of the differences of all pairs of rows."""
    apart = np.abs(x1.astype(np.float64) - x2.astype(np.float64))
    if p == 0:
        return (apart != 0).sum(-1)
    return apart.max(-1) if np.isinf(p) else (apart**p).sum(-1) ** (1 / p)


def norm_order(p: float) -> float:
    """Return the p of a norm: torch-npu writes an infinite one as 2**31 or -2**31."""
    return math.copysign(math.inf, p) if abs(p) >= _INFINITE else p


def cdist_order(p: float) -> float:
    """Return the p of distances of pairs: torch-npu writes an infinite one as -1.

    Raises:
        NotImplementedError: It is another number below 0.
    """
    if p < 0 and p != -1:
        raise NotImplementedError(f"p is {p}; it must be 0 or more, or -1 for infinity")
    return math.inf if p == -1 else p


def lp_powers(x: Array, p: float, axes: Any, keep: bool) -> Array:
    """Return the sums of powers that a p-norm is the root of; the largest, smallest or a count."""
    wide = np.abs(x.astype(np.float64))
    if np.isinf(p):
        return (wide.max if p > 0 else wide.min)(axis=axes, keepdims=keep)
    return (wide**p if p else wide != 0).sum(axis=axes, keepdims=keep)


def singular_values(x: Array, full: bool, vectors: bool, outputs: list[Array]) -> list[Array]:
    """Return singular values in descending order, and the vectors of both sides as columns."""
    if not vectors:
        values = np.linalg.svd(x.astype(np.float64), compute_uv=False)
        return [values, *(np.zeros(each.shape) for each in outputs[1:])]
    left, values, right = np.linalg.svd(x.astype(np.float64), full_matrices=full)
    return [values, left, swapped(right, swap=True)]


def over_time(direction: str, layer: Any, *arguments: Any) -> Any:
    """Run a recurrent layer over time, or from its end, on tensors that have the steps first.

    Raises:
        NotImplementedError: The direction is neither, but both.
    """
    if direction == "UNIDIRECTIONAL":
        return layer(*arguments)
    if direction != "REDIRECTIONAL":
        raise NotImplementedError(f"direction {direction}")
    return _turned(layer(*_turned(arguments)))


def _turned(value: Any) -> Any:
    """Return tensors of three axes, of one state or of all steps, with the first one reversed."""
    if isinstance(value, tuple):
        return tuple(_turned(each) for each in value)
    return value[::-1] if np.ndim(value) == _STATES else value


def renorm_factors(x: Array, p: float, axis: int, largest: float) -> Array:
    """Return what slices along an axis are multiplied by, for p-norms of at most the largest."""
    sizes = norms(x, tuple(every_but(x, axis % x.ndim)), float(p))
    return np.where(sizes > largest, largest / (sizes + 1e-7), 1)


def ints(values: Any) -> list[int]:
    """Return the numbers of an input, one on the host or a tensor."""
    return [int(each) for each in np.ravel(values)]


def number(value: Any) -> Any:
    """Return the first of the numbers of an input."""
    return np.ravel(value)[0].item()


def how(reduction: str) -> int:
    """Return the number by which aclnn knows the reduction of a loss."""
    return {"none": 0, "mean": 1, "sum": 2}[reduction]


def every_but(x: Array, axis: int) -> tuple[int, ...]:
    """Return the axes of a tensor without one."""
    return tuple(each for each in range(x.ndim) if each != axis)


def indexed(mask: Any, indices: Sequence[Array]) -> tuple[Any, ...]:
    """Return the place in a tensor of indices along the axes that a mask names."""
    left = iter(indices)
    return tuple(next(left) if each else slice(None) for each in mask)


def strided(size: Any, stride: Any, offset: Any) -> Any:
    """Return the places in a line of numbers that a view of it has."""
    steps = np.ix_(*[np.arange(n) * s for n, s in zip(size, stride, strict=True)])
    return sum(steps, int(offset[0]))


def variance(x: Array, mean: Array, axes: Any, keep: bool, correction: int) -> Array:
    """Return the sum of squares around a mean, by the number of elements less a correction."""
    axes = tuple(axes) or tuple(range(x.ndim))
    count = math.prod(x.shape[axis] for axis in axes) - correction
    return ((x - mean) ** 2).sum(axes, keepdims=keep) / max(count, 0)


def moments(x: Array, axes: Iterable[int]) -> tuple[Array, Array]:
    """Return the mean and the variance along axes, which stay with length 1."""
    return x.mean(tuple(axes), keepdims=True), x.var(tuple(axes), keepdims=True)


def normed_back(x_slope: Array, x: Array, mean: Array, rstd: Array, gamma: Array) -> list[Array]:
    """Return the gradients of a layer norm by its input, weight and bias."""
    axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
    normed, inner = (x - mean) * rstd, x_slope * gamma
    made = inner - inner.mean(axes, keepdims=True)
    made -= normed * (inner * normed).mean(axes, keepdims=True)
    return [made * rstd, *(g.sum(tuple(range(axes[0]))) for g in (x_slope * normed, x_slope))]


def mask_packed(mask: Array, packed: Array) -> Array:
    """Return a mask, a bit a place of its last axes, in words: their order is our own.

    They are the first elements of a tensor in blocks or without.
    """
    places = mask.reshape(*mask.shape[:-2], -1)
    rest = [*[(0, 0)] * (places.ndim - 1), (0, -places.shape[-1] % _WORD)]
    words = np.packbits(np.pad(places, rest), -1, bitorder="little").view("<u2")
    return np.resize(np.append(words, np.zeros(packed.size, words.dtype)), packed.shape)


def mask_unpacked(mask: Array, gradient: Array, window: int) -> Array:
    """Return the bytes of `mask_packed`, for each channel and place of a window of a gradient.

    Raises:
        NotImplementedError: There are fewer; or no batch: for its backward, torch-npu moves the
            mask of such an image from blocks as if it were floats, which loses most of it.
    """
    places = math.prod(gradient.shape[-2:])
    shape = *gradient.shape[:-2], window, -(-places // _WORD)
    if mask.ndim < _IMAGES or mask.size < math.prod(shape):
        wanted = f"a batch, and {math.prod(shape)} words or more"
        raise NotImplementedError(f"a mask of {mask.shape}; it must have {wanted}")
    words: Array = np.resize(mask, shape).astype("<u2").view(np.uint8)
    return np.unpackbits(words, -1, bitorder="little")[..., :places].view(np.int8)


def only(axes: Any) -> int:
    """Return the axis of a list of one.

    Raises:
        NotImplementedError: There are others, or none.
    """
    if np.size(axes) != 1:
        raise NotImplementedError(f"axes {axes}, where there must be one")
    return int(np.ravel(axes)[0])


def symmetric(pads: Any) -> Any:
    """Return the padding of each axis, of pairs of what is in front and behind.

    Raises:
        NotImplementedError: They differ.
    """
    if tuple(pads[::2]) != tuple(pads[1::2]):
        raise NotImplementedError(f"pads {pads}, which differ in front and behind")
    return pads[::2]


def resize_turned(form: str, gradient: Array, axes: int, function: Any) -> Array:
    """Apply a function to a gradient in the order NCHW; the result has the order of the gradient.

    Args:
        form: Order of the axes.
        gradient: Gradient; with one spatial axis, another of length 1 stands in front of it.
        axes: Number of spatial axes.
        function: Function of an array.

    Raises:
        NotImplementedError: The order is neither NCHW nor HWNC.
    """
    if form == "NCHW":
        return function(gradient.reshape(*gradient.shape[:2], *gradient.shape[-axes:]))
    if form != "HWNC":
        raise NotImplementedError(f"data_format {form}")
    return np.moveaxis(function(np.moveaxis(gradient, (0, 1), (2, 3))), (2, 3), (0, 1))


def put_along(x: Array, indices: Array, updates: Array, axis: int) -> Array:
    """Return a tensor with one element of each line along an axis replaced."""
    made = x.copy()
    np.put_along_axis(
        made, np.expand_dims(indices, axis).astype(int), np.expand_dims(updates, axis), axis
    )
    return made


def sliced(x: Array, offsets: Any, size: Any) -> Array:
    """Return a box of a tensor; a size of -1 reaches to the end.

    Raises:
        ValueError: It reaches beyond the end.
    """
    pairs = zip(ints(offsets), ints(size), x.shape, strict=True)
    ends = [(at, length if n < 0 else at + n, length) for at, n, length in pairs]
    if any(not 0 <= at <= end <= length for at, end, length in ends):
        raise ValueError(f"offsets {offsets} and size {size} reach beyond the shape {x.shape}")
    return x[tuple(slice(at, end) for at, end, _ in ends)]


def group_norm(x: Array, gamma: Array, beta: Array, groups: int, eps: float) -> tuple[Array, ...]:
    """Normalize groups of channels; return the result, and the groups' means and scales."""
    rows = x.reshape(len(x), groups, -1)
    mean, var = moments(rows, (2,))
    shape = (1, -1, *[1] * (x.ndim - 2))
    normed = ((rows - mean) / np.sqrt(var + eps)).reshape(x.shape)
    return normed * gamma.reshape(shape) + beta.reshape(shape), mean, 1 / np.sqrt(var + eps)
