# SPDX-License-Identifier: Apache-2.0
"""Quantization to and from integers of 8 and 4 bits, and products of quantized matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyaclnn.reference.kernels.functions.attention import without
from pyaclnn.reference.kernels.functions.basic import sigmoid
from pyaclnn.reference.kernels.functions.routing import groups_of_rows

__all__ = [
    "dequantized",
    "dequantized_product",
    "dynamic",
    "fake_quantized",
    "gated",
    "group_product",
    "packed_nibbles",
    "packed_scale",
    "quantized",
    "scale_of",
    "turned",
]

Array = Any
_ROUND = {"round": np.rint, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc}


def quantized(values: Array, results: Array, mode: str = "round", widest: int = 1) -> Array:
    """Real numbers rounded and clipped to the integers of a result, of few bytes."""
    if results.dtype.kind not in "iu" or results.dtype.itemsize > widest:
        raise NotImplementedError(f"a result of {results.dtype} is not computed")
    limits = np.iinfo(results.dtype)
    return np.clip(_ROUND[mode or "round"](values), limits.min, limits.max).astype(results.dtype)


def dynamic(x: Array, results: Array, offset: Array = None) -> tuple[Array, Array, Array]:
    """Rows in int8 with a scale each, and an offset each if there is a tensor for it."""
    top, low = x.max(-1, keepdims=True), x.min(-1, keepdims=True)
    if offset is None:
        scale = np.maximum(np.abs(top), np.abs(low)) / 127
        places = np.zeros_like(scale)
    else:
        scale = (top - low) / 255
        places = 127 - top / np.where(scale == 0, 1, scale)
    y = quantized(x / np.where(scale == 0, 1, scale) + places, results)
    return y, scale[..., 0], None if offset is None else places[..., 0]


def packed_scale(scale: Array, offset: Array = None) -> Array:
    """Scales as 64 bits: the 19 high ones of a float, bit 46, and an offset of 9 bits above 36."""
    bits = np.asarray(scale, np.float32).view(np.uint32).astype(np.uint64) & np.uint64(0xFFFFE000)
    bits = bits | np.uint64(1 << 46)
    if offset is None:
        return bits
    whole = np.clip(np.rint(offset), -256, 255).astype(np.int64) & 0x1FF
    return bits | (whole.astype(np.uint64) << np.uint64(37))


def scale_of(scale: Array) -> Array:
    """Scales as real numbers, of 64 bits too."""
    if scale.dtype.kind in "iu":
        return (scale.astype(np.uint64) & np.uint64(0xFFFFFFFF)).astype(np.uint32).view(np.float32)
    return scale


def turned(x: Array, transposed: bool) -> Array:
    """A matrix, or its transpose."""
    return np.swapaxes(x, -1, -2) if transposed else x


def dequantized_product(
    a: Array, b: Array, scale: Array, results: Array, extras: tuple[Array, Array, Array]
) -> Array:
    """A product of int8 matrices, scaled; extras are a bias, an offset and scales of the rows."""
    bias, offset, rows = extras
    product = np.matmul(a.astype(np.float64), b.astype(np.float64))
    if bias is not None and bias.dtype.kind == "i":
        product += bias
    if results.dtype == np.int32:
        return product.astype(np.int32)
    product = product * (1 if scale is None else scale_of(scale))
    if rows is not None:
        product = product * rows.reshape(-1, 1)
    if bias is not None and bias.dtype.kind != "i":
        product += bias
    if results.dtype == np.int8:
        return quantized(product + (0 if offset is None else offset), results)
    return product


def dequantized(x: Array, scale: Array, rows: Array, bias: Array) -> Array:
    """Integers as real numbers: scaled by columns and rows; an integer bias is added first."""
    first = bias is not None and bias.dtype.kind == "i"
    x = (x + bias if first else x) * (1 if scale is None else scale)
    x = x if rows is None else x * rows.reshape(-1, 1)
    return x if first or bias is None else x + bias


def gated(x: Array, left: bool) -> Array:
    """The product of one half of each row with the sigmoid linear unit of the other."""
    a, b = np.split(x, 2, -1)
    return a * sigmoid(a) * b if left else a * b * sigmoid(b)


def group_product(x: Array, weight: Array, scale: Array, rows: Array, ends: Array) -> Array:
    """The product of rows of int8 with the matrix of their group, scaled by columns and rows."""
    group = groups_of_rows(ends, len(x))
    product = np.zeros((len(x), weight.shape[-1]))
    for place, matrix in enumerate(weight):
        mine = group == place
        product[mine] = x[mine].astype(np.float64) @ matrix
    return product * scale_of(scale)[group] * (1 if rows is None else rows.reshape(-1, 1))


def fake_quantized(
    x: Array, scale: Array, zero: Array, limits: tuple[int, int], enabled: bool = True
) -> tuple[Array, Array]:
    """Numbers rounded as those of a quantized type, and where they lie in its limits."""
    if not enabled:
        return x, np.ones(x.shape, bool)
    whole = np.rint(x * (1 / scale)) + np.asarray(zero)
    inside = (whole >= limits[0]) & (whole <= limits[1])
    return (np.clip(whole, *limits) - zero) * scale, inside


def packed_nibbles(x: Array, results: Array) -> Array:
    """Eight integers of 4 bits an element of int32, the first one lowest."""
    without(INT4=None if results.dtype == np.int32 else "a result of INT4")
    nibbles = (x & 15).astype(np.uint32).reshape(*x.shape[:-1], -1, 8)
    shifted = nibbles << (4 * np.arange(8, dtype=np.uint32))
    return np.bitwise_or.reduce(shifted, -1).astype(np.uint32).view(np.int32)
