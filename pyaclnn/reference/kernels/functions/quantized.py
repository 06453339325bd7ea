# SPDX-License-Identifier: Apache-2.0
"""Quantization to and from numbers of 8 and 4 bits, and products of quantized matrices."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from pyaclnn.reference.arithmetic.microscaling import BLOCK, block_scaled
from pyaclnn.reference.arithmetic.quantization import FLOAT8, MOST, integers, packed
from pyaclnn.reference.kernels.functions.attention import without
from pyaclnn.reference.kernels.functions.basic import sigmoid
from pyaclnn.reference.kernels.functions.routing import groups_of_rows

Array = Any
_PACKED = {"int32": ("int4", "int32"), "float32": ("float4_e2m1fn", "float32")}
"""The types that numbers of 4 bits come from, and those that hold them."""
_ROUND = {"round": np.rint, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc}


def quantized(values: Array, results: Array, mode: str = "round", widest: int = 1) -> Array:
    """Real numbers rounded and clipped to the type of a result.

    Integers of up to ``widest`` bytes are plain ones; others of int32 hold eight of 4 bits.
    """
    if results.dtype.kind in "iu" and results.dtype.itemsize <= widest:
        limits = np.iinfo(results.dtype)
        whole_numbers = _ROUND[mode or "round"](values)
        return np.clip(whole_numbers, limits.min, limits.max).astype(results.dtype)
    if results.dtype not in MOST:
        raise NotImplementedError(f"a result of {results.dtype} is not computed")
    rounded = values if results.dtype in FLOAT8 else _ROUND[mode or "round"](values)
    return integers(rounded, results.dtype)


def dynamic(x: Array, results: Array, offset: Array = None) -> tuple[Array, Array, Array]:
    """Rows in int8, int4 or float8 with a scale each, and an offset if there is a tensor for it."""
    if results.dtype not in MOST:
        raise NotImplementedError(f"a result of {results.dtype} is not computed")
    most = MOST[results.dtype]
    top, low = x.max(-1, keepdims=True), x.min(-1, keepdims=True)
    if offset is None:
        scale = np.maximum(np.abs(top), np.abs(low)) / most
        places = np.zeros_like(scale)
    else:
        scale = (top - low) / (2 * most + (results.dtype not in FLOAT8))
        places = most - top / np.where(scale == 0, 1, scale)
    y = quantized(x / np.where(scale == 0, 1, scale) + places, results)
    return y, scale[..., 0], None if offset is None else places[..., 0]


def whole(x: Array, length: int | None = None) -> Array:
    """The numbers of 4 bits that int32 packs, by eights along the last axis; others as they are.

    Args:
        x: The numbers.
        length: The length of the first axis, if that may be the packed one.
    """
    if x.dtype != np.int32:
        return x
    numbers = np.bitwise_and(x[..., None] >> (4 * np.arange(8, dtype=np.int32)), 15)
    numbers = ((numbers ^ 8) - 8).astype(np.int8)  # bit 3 is the sign
    if length is not None and x.shape[0] != length:
        return np.swapaxes(numbers, 1, 2).reshape(-1, x.shape[1])
    return numbers.reshape(*x.shape[:-1], -1)


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
        several = rows.size not in (1, product.shape[-2])  # of batches as well
        product = product * rows.reshape(*(product.shape[:-1] if several else (-1,)), 1)
    if bias is not None and bias.dtype.kind != "i":
        product += bias
    if results.dtype == np.int8:
        return quantized(product + (0 if offset is None else offset), results)
    return product


def dequantized_weight(weight: Array, depth: int, scale: Array, offset: Array, group: int) -> Array:
    """A weight of few bits as real numbers.

    Args:
        weight: The weight, of which int32 packs eight numbers.
        depth: The length of its first axis.
        scale: Scales: one, of columns, or of groups of rows.
        offset: Offsets like the scales, added first, or None.
        group: The number of rows of a group, or 0.
    """

    def spread(x: Array) -> Array:
        return np.repeat(x, group, 0)[:depth] if group > 0 else x

    shifted = whole(weight, depth) + (0 if offset is None else spread(offset))
    return shifted * spread(scale_of(scale))


def scaled(product: Array, rows: Array, columns: Array) -> Array:
    """A product of quantized matrices, scaled by rows and columns; None stands for no scales.

    Raises:
        NotImplementedError: The scales are those of blocks.
    """
    shapes = [(rows, (len(product), 1)), (columns, (1, product.shape[-1]))]
    for scale, shape in shapes:
        if scale is None:
            continue
        if scale.size not in (1, max(shape)):
            raise NotImplementedError(f"scales of shape {scale.shape} are not computed")
        product = product * scale_of(scale).reshape(shape if scale.size > 1 else (1, 1))
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
    """Numbers of 4 bits, or eight of them in the bits of an element, the first one lowest.

    Integers come from int32, floats from float32.
    """
    if results.dtype.name not in _PACKED.get(x.dtype.name, ()):
        raise NotImplementedError(f"{results.dtype} of {x.dtype} is not computed")
    if x.dtype == np.int32:
        numbers = x.astype(np.int8)
        return packed(numbers) if results.dtype == np.int32 else numbers.astype(results.dtype)
    floats = x.astype(ml_dtypes.float4_e2m1fn)
    return packed(floats.view(np.int8)).view(np.float32) if results.dtype == x.dtype else floats


def shared_scales(
    x: Array, results: Array, axis: int, rule: tuple[Any, ...], **absent: Any
) -> tuple[Array, Array]:
    """Narrow floats with a scale for 32 elements along an axis, two scales behind each other.

    The rule is how to round, the algorithm of the scales, and the size of a block, if it is stated.

    Raises:
        NotImplementedError: A block has another size, or the largest number is given.
    """
    mode, algorithm, block = (*rule, BLOCK)[:3]
    others = {name: value or None for name, value in absent.items()}
    without(blocksize=None if block == BLOCK else block, **others)
    moved = np.moveaxis(x, axis, -1)
    rows = np.ascontiguousarray(moved).reshape(-1, moved.shape[-1])
    unknown = np.zeros(len(rows), bool)
    y, scales = block_scaled(rows, unknown, results.dtype, algorithm, mode or "rint")
    pairs = scales.reshape(*moved.shape[:-1], -1, 2)
    return np.moveaxis(y.reshape(moved.shape), -1, axis), np.moveaxis(pairs, -2, axis % x.ndim)


def unshared(x: Array, scales: Array, axis: int) -> Array:
    """The real numbers of narrow floats and of the scales of their blocks."""
    axis %= x.ndim
    flat = np.moveaxis(scales.astype(np.float32), axis, -2)
    flat = flat.reshape(*flat.shape[:-2], -1).repeat(BLOCK, -1)[..., : x.shape[axis]]
    return x.astype(np.float32) * np.moveaxis(flat, -1, axis)


def block_quantized(x: Array, results: Array, rows: int, columns: int) -> tuple[Array, Array]:
    """Numbers of few bits with a scale for each block of rows and columns."""
    height, width = x.shape[-2:]
    up, across = -(-height // rows), -(-width // columns)
    padded = np.zeros((*x.shape[:-2], up * rows, across * columns), x.dtype)
    padded[..., :height, :width] = x
    blocks = np.abs(padded).reshape(*x.shape[:-2], up, rows, across, columns)
    scales = blocks.max((-3, -1), initial=0) / MOST[results.dtype]
    spread = scales.repeat(rows, -2).repeat(columns, -1)[..., :height, :width]
    return quantized(x / np.where(spread == 0, 1, spread), results), scales
