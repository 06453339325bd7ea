# SPDX-License-Identifier: Apache-2.0
"""Conversions against those of NumPy and ml_dtypes, number by number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from pyaclnn.accuracy import finfo
from pyaclnn.reference.narrow_floats import narrow, widen

if TYPE_CHECKING:
    from numpy.typing import NDArray

NARROW = [np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)]

every_type = pytest.mark.parametrize("dtype", NARROW, ids=str)


def every_number(dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.arange(2**16, dtype=np.uint16).view(dtype)


def finite(dtype: np.dtype[Any]) -> NDArray[Any]:
    numbers = every_number(dtype)
    return numbers[np.isfinite(numbers.astype(np.float32))]


def widened(numbers: NDArray[Any]) -> NDArray[np.float32]:
    out = np.empty(numbers.shape, np.float32)
    widen(numbers, out)
    return out


def narrowed(numbers: NDArray[np.float32], dtype: np.dtype[Any]) -> NDArray[Any]:
    out = np.empty(numbers.shape, dtype)
    narrow(numbers.copy(), out, np.empty_like(numbers))
    return out


def assert_same_bits(actual: NDArray[Any], expected: NDArray[Any]) -> None:
    word = f"u{actual.itemsize}"
    assert np.array_equal(actual.view(word), expected.view(word))


@every_type
def test_every_finite_number_becomes_wide_and_narrow_again(dtype: np.dtype[Any]) -> None:
    numbers = finite(dtype)
    assert_same_bits(widened(numbers), numbers.astype(np.float32))
    assert_same_bits(narrowed(numbers.astype(np.float32), dtype), numbers)


@every_type
@pytest.mark.parametrize("strange", [np.inf, -np.inf, np.nan], ids=str)
def test_infinity_and_nan_are_themselves(dtype: np.dtype[Any], strange: float) -> None:
    numbers = np.array([1, strange, -2.5], dtype)
    assert np.array_equal(widened(numbers), numbers.astype(np.float32), equal_nan=True)
    wide = np.array([1, strange, -2.5], np.float32)
    assert np.array_equal(narrowed(wide, dtype).astype(np.float32), wide, equal_nan=True)


def test_a_nan_with_any_payload_stays_one() -> None:
    words = np.array([0x7F800001, 0x7FFFFFFF, 0xFF800001, 0xFFFFFFFF, 0x7FFF7FFF], np.uint32)
    for dtype in NARROW:
        with np.errstate(invalid="ignore"):
            numbers = narrowed(words.view(np.float32), dtype).astype(np.float32)
        assert np.isnan(numbers).all()


@every_type
def test_ties_go_to_even_and_their_neighbours_to_the_nearest(dtype: np.dtype[Any]) -> None:
    numbers = np.sort(finite(dtype).astype(np.float64))
    normal = numbers[np.abs(numbers) >= float(finfo(dtype).smallest_normal)]
    # Between the smallest of each sign lie the subnormal numbers.
    ties = ((normal[1:] + normal[:-1]) / 2)[normal[1:] * normal[:-1] > 0].astype(np.float32)
    for wide in (ties, np.nextafter(ties, np.float32(np.inf)), np.nextafter(ties, np.float32(0))):
        assert_same_bits(narrowed(wide, dtype), wide.astype(dtype))


@every_type
def test_the_edge_of_the_range(dtype: np.dtype[Any]) -> None:
    largest = np.float32(finfo(dtype).max)
    place = largest - np.nextafter(np.array(largest, dtype), np.array(0, dtype)).astype(np.float32)
    tie = np.float32(float(largest) + float(place) / 2)
    wide = np.array([np.nextafter(tie, np.float32(0)), tie, -tie, 1e-30, -0.0, 3.4e38], np.float32)
    # Each by itself: one that is too large sends its whole block another way.
    with np.errstate(over="ignore"):
        for number in wide[:, None]:
            assert_same_bits(narrowed(number, dtype), number.astype(dtype))


def test_a_subnormal_result_is_almost_the_nearest() -> None:
    wide = np.random.default_rng(5).uniform(-(2**-14), 2**-14, 100_000).astype(np.float32)
    errors = np.abs(narrowed(wide, NARROW[0]).astype(np.float64) - wide)
    assert errors.max() <= 2.0**-25 * (1 + 2**-12)


def test_memory_need_not_be_contiguous() -> None:
    numbers = np.arange(24, dtype=np.float16).reshape(4, 6)[::2, 1:4]
    assert widened(numbers).tolist() == numbers.tolist()
    out = np.zeros((4, 6), ml_dtypes.bfloat16)[::2, 1:4]
    narrow(numbers.astype(np.float32), out, np.empty((2, 3), np.float32))
    assert out.astype(np.float32).tolist() == numbers.tolist()


def test_no_numbers() -> None:
    for dtype in NARROW:
        assert widened(np.empty((0, 3), dtype)).shape == (0, 3)
        assert narrowed(np.empty((0, 3), np.float32), dtype).shape == (0, 3)
