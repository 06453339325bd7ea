# SPDX-License-Identifier: Apache-2.0
"""Blocks of narrow floats with a shared scale, a power of two (OCP Microscaling Formats)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import DTypeLike, NDArray

__all__ = ["E4M3", "block_scaled"]

BLOCK = 32
BIAS, NOT_A_NUMBER = 127, 255
E4M3 = np.dtype(ml_dtypes.float8_e4m3fn)
E5M2 = np.dtype(ml_dtypes.float8_e5m2)
E2M1 = np.dtype(ml_dtypes.float4_e2m1fn)
# The exponent of the largest number, and that number.
LARGEST: dict[np.dtype[Any], tuple[int, float]] = {
    E4M3: (8, 448.0),
    E5M2: (15, 57344.0),
    E2M1: (2, 6.0),
}

_WHOLE: dict[str, Callable[[Any], Any]] = {
    "rint": np.rint,
    "floor": np.floor,
    "round": lambda part: np.copysign(np.floor(np.abs(part) + 0.5), part),
}
"""Ways of rounding, by CANN's names."""


def block_scaled(
    rows: NDArray[Any],
    unknown: NDArray[np.bool_],
    dtype: DTypeLike,
    scale_alg: int,
    round_mode: str,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Round blocks of 32 elements of each row to narrow floats with a scale of their own.

    Args:
        rows: (M, N).
        unknown: Rows whose results are 0 with a scale that is no number, (M,). A block with such a
            number or an infinite one is alike.
        dtype: float8_e4m3fn, float8_e5m2 or float4_e2m1fn.
        scale_alg: 0: the exponent of the largest number becomes that of the type; 1: the least
            scale with which nothing saturates.
        round_mode: rint, floor or round, which takes halves away from 0.

    Returns:
        The numbers, (M, N), and the scales, (M, K) with the next even K; what is not used is 0.

    Raises:
        TypeError: The type is none of the three.
    """
    kind, (count, length) = np.dtype(dtype), rows.shape
    if kind not in LARGEST:
        raise TypeError(f"the blocks have the data type {kind}; it must be {', '.join(_names())}")
    exponent, most = LARGEST[kind]
    number = -(-length // BLOCK)
    padded = np.zeros((count, number * BLOCK), rows.dtype)
    padded[:, :length] = rows
    blocks = padded.reshape(count, number, BLOCK)
    bad = ~np.isfinite(blocks).all(2) | unknown[:, None]
    blocks = np.where(bad[:, :, None], 0, blocks)
    largest = np.abs(blocks).max(2, initial=0)
    part, power = np.frexp(largest if scale_alg == 0 else largest / rows.dtype.type(most))
    # A number is its part, which is below 1 and at least a half, times the power of two.
    shared = power - 1 - exponent if scale_alg == 0 else np.where(part == 0.5, power - 1, power)  # noqa: PLR2004
    shared = np.where(largest == 0, -BIAS, np.clip(shared, -BIAS, BIAS))
    scaled = np.ldexp(blocks, -shared[:, :, None])
    narrow = _rounded(np.clip(scaled, -most, most), kind, most, round_mode)
    scales = np.zeros((count, number + number % 2), np.uint8)
    scales[:, :number] = np.where(bad, NOT_A_NUMBER, shared + BIAS)
    numbers = narrow.reshape(count, -1)[:, :length]
    return numbers, scales.view(ml_dtypes.float8_e8m0fnu)


def _rounded(
    numbers: NDArray[Any], kind: np.dtype[Any], most: float, round_mode: str
) -> NDArray[Any]:
    if kind != E2M1:
        return numbers.astype(kind)
    step = np.ldexp(0.5, np.clip(np.frexp(numbers)[1] - 1, 0, None))
    whole = _WHOLE[round_mode](numbers / step)
    return np.asarray(np.clip(whole * step, -most, most).astype(kind))


def _names() -> list[str]:
    return [str(kind) for kind in LARGEST]
