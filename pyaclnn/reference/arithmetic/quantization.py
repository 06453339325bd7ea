# SPDX-License-Identifier: Apache-2.0
"""Rounding to 8-bit and 4-bit integers, and to 8-bit floats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

__all__ = ["INT8", "quantized", "quantized_rows"]

INT8, INT32 = np.dtype(np.int8), np.dtype(np.int32)
INT4 = np.dtype(ml_dtypes.int4)
FLOAT8 = {np.dtype(ml_dtypes.float8_e4m3fn): 448, np.dtype(ml_dtypes.float8_e5m2): 57344}
MOST = {INT8: 127, INT4: 7, INT32: 7, **FLOAT8}
"""The largest number that is stored in a type: int32 holds eight integers of 4 bits."""
PACKED = 8
BITS = 4


def quantized(
    numbers: NDArray[Any],
    scale: NDArray[Any] | float,
    zero_point: NDArray[Any] | float = 0,
    *,
    div_mode: bool = True,
    dtype: DTypeLike = INT8,
) -> NDArray[Any]:
    """Scale, shift and round to integers: the zero point is added before ties go to even.

    Args:
        numbers: The numbers to quantize.
        scale: Divides or multiplies it.
        zero_point: Added to that.
        div_mode: True if the scale divides.
        dtype: int8, int4 of ml_dtypes, int32 for eight of 4 bits in an element, or float8_e4m3fn
            or float8_e5m2 of ml_dtypes, which holds the nearest numbers.

    Returns:
        The integers, as far as the type goes; NaN is 0.

    Raises:
        TypeError: Numbers are not quantized to the type.
    """
    scaled = numbers / scale if div_mode else numbers * scale
    return integers(scaled + zero_point, np.dtype(dtype))


def quantized_rows(
    rows: NDArray[Any], dtype: DTypeLike = INT8
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Round each row to integers by a scale of its own, which makes its largest number the largest.

    Kernels divide once a row, `factor = largest integer / max(|row|)`, and give `1 / factor`, which
    can be a unit of float32 away from `max(|row|) / largest integer`.

    Args:
        rows: (M, N).
        dtype: The type of the integers, as in `quantized`.

    Returns:
        The integers, ties to even, and the scale of each row, (M, 1). A row of zeros has none:
        its integers are 0 and its scale is 0.

    Raises:
        TypeError: Numbers are not quantized to the type.
    """
    largest = np.maximum.reduce(np.abs(rows), axis=1, keepdims=True, initial=0)
    factor = most(np.dtype(dtype)) / largest
    return integers(rows * factor, np.dtype(dtype)), 1 / factor


def integers(numbers: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Round to integers of a type, ties to even."""
    limit = most(dtype)
    if dtype in FLOAT8:
        nearest: NDArray[Any] = np.nan_to_num(np.clip(numbers, -limit, limit), nan=0).astype(dtype)
        return nearest
    whole = np.clip(np.rint(numbers), -limit - 1, limit)
    small = np.nan_to_num(whole, copy=False, nan=0).astype(np.int8)
    return packed(small) if dtype == INT32 else small.astype(dtype, copy=False)


def most(dtype: np.dtype[Any]) -> int:
    if dtype not in MOST:
        expected = "int8, int4 or int32, or float8_e4m3fn or float8_e5m2 of ml_dtypes"
        raise TypeError(f"the integers have the data type {dtype}; it must be {expected}")
    return MOST[dtype]


def packed(small: NDArray[np.int8]) -> NDArray[np.int32]:
    """Pack eight integers of 4 bits along the last axis into one of 32, the first one lowest."""
    if small.shape[-1] % PACKED:
        raise ValueError(
            f"the last axis has {small.shape[-1]} elements; it must be a multiple of {PACKED} to "
            "be packed into int32"
        )
    eights = (small & 0xF).astype(np.uint32).reshape(*small.shape[:-1], -1, PACKED)
    shifts = np.arange(0, PACKED * BITS, BITS, dtype=np.uint32)
    words: NDArray[np.uint32] = np.bitwise_or.reduce(eights << shifts, axis=-1)
    return words.view(np.int32)
