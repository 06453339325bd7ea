# SPDX-License-Identifier: Apache-2.0
"""Rounding to 8-bit integers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["quantized"]


def quantized(
    numbers: NDArray[Any],
    scale: NDArray[Any],
    zero_point: NDArray[Any],
    *,
    div_mode: bool = True,
) -> NDArray[np.int8]:
    """Scale, shift and round to int8: the zero point is added before ties go to even.

    Args:
        numbers: What to quantize.
        scale: Divides or multiplies it.
        zero_point: Added to that.
        div_mode: Whether the scale divides.

    Returns:
        The integers, as far as int8 goes; NaN is 0.
    """
    scaled = numbers / scale if div_mode else numbers * scale
    whole = np.clip(np.rint(scaled + zero_point), -128, 127)
    result: NDArray[np.int8] = np.nan_to_num(whole, copy=False, nan=0).astype(np.int8)
    return result
