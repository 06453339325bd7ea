# SPDX-License-Identifier: Apache-2.0
"""Rounding to 8-bit and 4-bit integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["INT8_MAX", "quantized", "quantized_rows"]

INT8_MAX = 127


def quantized(
    numbers: NDArray[Any],
    scale: NDArray[Any],
    zero_point: NDArray[Any],
    *,
    div_mode: bool = True,
    most: int = INT8_MAX,
) -> NDArray[np.int8]:
    """Scale, shift and round to integers: the zero point is added before ties go to even.

    Args:
        numbers: What to quantize.
        scale: Divides or multiplies it.
        zero_point: Added to that.
        div_mode: Whether the scale divides.
        most: The largest integer; the smallest is one further from zero.

    Returns:
        The integers, at most as large; NaN is 0.
    """
    scaled = numbers / scale if div_mode else numbers * scale
    return integers(scaled + zero_point, most)


def quantized_rows(
    rows: NDArray[Any], most: int = INT8_MAX
) -> tuple[NDArray[np.int8], NDArray[Any]]:
    """Round each row to integers by a scale of its own, which makes its largest number the largest.

    Kernels divide once a row, `factor = most / max(|row|)`, and give `1 / factor`, which can be a
    unit of float32 away from `max(|row|) / most`.

    Args:
        rows: (M, N).
        most: The largest integer.

    Returns:
        The integers, ties to even, and the scale of each row, (M, 1). A row of zeros has none:
        its integers are 0 and its scale is 0.
    """
    largest = np.maximum.reduce(np.abs(rows), axis=1, keepdims=True, initial=0)
    factor = most / largest
    return integers(rows * factor, most), 1 / factor


def integers(numbers: NDArray[Any], most: int) -> NDArray[np.int8]:
    whole = np.clip(np.rint(numbers), -most - 1, most)
    result: NDArray[np.int8] = np.nan_to_num(whole, copy=False, nan=0).astype(np.int8)
    return result
