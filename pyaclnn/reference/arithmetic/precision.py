# SPDX-License-Identifier: Apache-2.0
"""The type that arithmetic runs in, and rounding of its results to the types of tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from pyaclnn.reference.arithmetic.narrow_floats import narrow, widen

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "BFLOAT16",
    "FLOAT16",
    "FLOAT32",
    "arithmetic_dtype",
    "average",
    "rounded",
    "rounded_away",
    "total",
    "wide",
]

FLOAT16 = np.dtype(np.float16)
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOAT32 = np.dtype(np.float32)
FLOAT64 = np.dtype(np.float64)


def arithmetic_dtype(name: str, tensor: NDArray[Any]) -> np.dtype[Any]:
    """Return the type that arithmetic on a tensor runs in: float64 for float64, else float32.

    Args:
        name: The name of the tensor in the caller, for the message.
        tensor: The tensor that decides.

    Raises:
        TypeError: Its data type is none of float16, bfloat16, float32 and float64.
    """
    if tensor.dtype in (FLOAT32, FLOAT16, BFLOAT16):
        return FLOAT32
    if tensor.dtype == FLOAT64:
        return FLOAT64
    raise TypeError(
        f"{name} has the data type {tensor.dtype}; it must be float16, bfloat16, float32 or float64"
    )


def wide(tensor: ArrayLike, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Bring a tensor to the type that arithmetic runs in."""
    array = np.asarray(tensor)
    if array.dtype == dtype or dtype != FLOAT32 or array.dtype not in (FLOAT16, BFLOAT16):
        return array.astype(dtype, copy=False)
    out = np.empty(array.shape, FLOAT32)
    has_gaps = array.ndim == 2 and not array.flags.c_contiguous  # noqa: PLR2004
    widen(array if has_gaps else np.ascontiguousarray(array).reshape(1, -1), out)
    return out


def rounded(numbers: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Round to a tensor's type: to the nearest, ties to even. Infinity is what lies beyond it."""
    if numbers.dtype == dtype or numbers.dtype != FLOAT32 or dtype not in (FLOAT16, BFLOAT16):
        return numbers.astype(dtype, copy=False)
    out = np.empty(numbers.shape, dtype)
    narrow(np.ascontiguousarray(numbers), out.reshape(1, -1))
    return out


def rounded_away(numbers: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Round to a tensor's type: to the nearest, ties away from zero (CANN: CAST_ROUND)."""
    nearest = rounded(numbers, dtype)
    if numbers.dtype == dtype:
        return nearest
    further = np.nextafter(nearest, np.copysign(np.inf, numbers).astype(dtype))
    middle = (nearest.astype(FLOAT64) + further.astype(FLOAT64)) / 2
    return np.where(numbers == middle, further, nearest)


def total(numbers: NDArray[Any], axes: int | tuple[int, ...]) -> NDArray[Any]:
    """Add up along axes, which stay as ones; the sum alone is rounded, not what leads to it."""
    return np.add.reduce(numbers, axis=axes, dtype=FLOAT64, keepdims=True).astype(numbers.dtype)


def average(numbers: NDArray[Any], axes: int | tuple[int, ...]) -> NDArray[Any]:
    """Return means along axes, which stay as ones. Those of nothing are NaN.

    Sums are divided before they are rounded, so the mean of equal numbers is that number.
    """
    sums = np.add.reduce(numbers, axis=axes, dtype=FLOAT64, keepdims=True)
    return (sums / (numbers.size / max(sums.size, 1))).astype(numbers.dtype)
