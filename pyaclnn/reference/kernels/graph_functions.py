# SPDX-License-Identifier: Apache-2.0
"""Operators of graphs for which aclnn has no operator of the same arguments."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.kernels.functions.recurrent import gru, gru_backward, lstm, lstm_backward

__all__ = [
    "cdist",
    "cdist_backward",
    "gru",
    "gru_backward",
    "lp_powers",
    "lstm",
    "lstm_backward",
    "matrix_product",
    "only",
    "over_time",
    "put_along",
    "reduced",
    "relaid",
    "singular_values",
    "swapped",
    "symmetric",
]

Array = Any
_CUBE = 16
_STATES = 3
"""Axes of the states of a recurrent layer: time, batch, features."""


def swapped(x: Array, swap: bool) -> Array:
    """Return a matrix, or stack of matrices, transposed if asked for."""
    return np.swapaxes(x, -1, -2) if swap else x


def matrix_product(x1: Array, x2: Array, bias: Array, swap1: bool, swap2: bool) -> Array:
    """Multiply matrices in float32, integers as integers."""
    wide = [x.astype(np.int64 if x.dtype.kind in "iu" else np.float32) for x in (x1, x2)]
    product = swapped(wide[0], swap1) @ swapped(wide[1], swap2)
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


def cdist_backward(gradient: Array, x1: Array, x2: Array, apart: Array, p: float) -> Array:
    """Return the gradient of `cdist` by its first rows; all tensors have a pair's elements last."""
    difference = x1.astype(np.float64) - x2
    if np.isinf(p):
        slope = np.sign(difference) * (np.abs(difference) == apart)
    else:
        powers = np.where(apart > 0, apart, 1).astype(np.float64) ** (p - 1)
        slope = np.sign(difference) * np.abs(difference) ** (p - 1) / powers if p else 0 * apart
    return (gradient * slope * (apart > 0)).sum(-2)


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


def relaid(x: Array, source: str, target: str, out: Array) -> Array:
    """Return a tensor in another format: dense, FRACTAL_NZ, or NC1HWC0.

    Raises:
        NotImplementedError: Another format is asked for.
    """
    plain = ("ND", "NCHW", "NCDHW")
    if source == target or {source, target} <= {*plain}:
        return x
    if source in plain and target == "FRACTAL_NZ":
        return _fractal(x, out.shape[-1])
    if source == "FRACTAL_NZ" and target in plain:
        return _dense(x, *out.shape[-2:])
    if source in plain and target == "NC1HWC0":
        batch, blocks, height, width, block = out.shape
        padded = np.zeros((batch, blocks * block, height, width), x.dtype)
        padded[:, : x.shape[1]] = x
        return np.moveaxis(padded.reshape(batch, blocks, block, height, width), 2, -1)
    if source == "NC1HWC0" and target in plain:
        channels = np.moveaxis(x, -1, 2).reshape(x.shape[0], -1, *x.shape[2:4])
        return channels[:, : out.shape[1]]
    raise NotImplementedError(f"a tensor of format {source} as {target}")


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


def put_along(x: Array, indices: Array, updates: Array, axis: int) -> Array:
    """Return a tensor with one element of each line along an axis replaced."""
    made = x.copy()
    np.put_along_axis(
        made, np.expand_dims(indices, axis).astype(int), np.expand_dims(updates, axis), axis
    )
    return made


def _fractal(x: Array, block: int) -> Array:
    """Return matrices as FRACTAL_NZ: blocks of 16 rows by ``block`` columns, column by column."""
    *stack, rows, columns = x.shape
    padded = np.zeros((*stack, -(-rows // _CUBE) * _CUBE, -(-columns // block) * block), x.dtype)
    padded[..., :rows, :columns] = x
    parts = padded.reshape(*stack, -1, _CUBE, padded.shape[-1] // block, block)
    return np.moveaxis(parts, -2, -4)


def _dense(x: Array, rows: int, columns: int) -> Array:
    """Return matrices of FRACTAL_NZ row by row: the inverse of `_fractal`."""
    parts = np.moveaxis(x, -4, -2)
    whole = parts.reshape(*parts.shape[:-4], parts.shape[-4] * _CUBE, -1)
    return whole[..., :rows, :columns]
