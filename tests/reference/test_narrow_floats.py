# SPDX-License-Identifier: Apache-2.0
"""Conversions against those of NumPy and ml_dtypes, bit by bit, with and without instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
import pytest

from pyaclnn.reference.arithmetic._narrow_floats import lib
from pyaclnn.reference.arithmetic.narrow_floats import narrow, widen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

HALF, BFLOAT = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)

every_type = pytest.mark.parametrize("dtype", [HALF, BFLOAT], ids=str)
pytestmark = [
    pytest.mark.usefixtures("way"),
    # NumPy's conversions say when a number is too large or a NaN.
    pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning"),
]


@pytest.fixture(params=["native", "portable"])
def way(request: pytest.FixtureRequest) -> Iterator[None]:
    lib.portable = request.param == "portable"
    yield
    lib.portable = 0


def every_number(dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.arange(2**16, dtype=np.uint16).view(dtype)


def widened(numbers: NDArray[Any]) -> NDArray[np.float32]:
    out = np.empty(numbers.shape, np.float32)
    widen(numbers, out)
    return out


def narrowed(numbers: NDArray[np.float32], dtype: np.dtype[Any]) -> NDArray[Any]:
    out = np.empty((1, numbers.size), dtype)
    narrow(numbers.reshape(1, -1), out)
    return out.reshape(numbers.shape)


def quiet(wide: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same with every NaN quiet, as processors make them; NumPy may leave them signalling."""
    bits = wide.view(np.uint32)
    return np.where(np.isnan(wide), bits | np.uint32(1 << 22), bits).view(np.float32)


def assert_same_bits(actual: NDArray[Any], expected: NDArray[Any]) -> None:
    word = f"u{actual.itemsize}"
    assert np.array_equal(actual.view(word), expected.view(word))


def assert_narrowed(wide: NDArray[np.float32], dtype: np.dtype[Any]) -> None:
    assert_same_bits(narrowed(wide, dtype), quiet(wide).astype(dtype))


@every_type
def test_every_number_becomes_wide_and_narrow_again(dtype: np.dtype[Any]) -> None:
    numbers = every_number(dtype)
    wide = widened(numbers)
    expected = numbers.astype(np.float32)
    # A bfloat16 is moved as it is.
    assert_same_bits(wide, quiet(expected) if dtype == HALF else expected)
    assert_narrowed(wide, dtype)
    finite = np.isfinite(expected)
    assert_same_bits(narrowed(wide, dtype)[finite], numbers[finite])


@every_type
def test_ties_go_to_even_and_their_neighbours_to_the_nearest(dtype: np.dtype[Any]) -> None:
    # From each number half way to the next, subnormal ones and the largest included.
    bits = np.arange(2**16, dtype=np.uint16)
    below = widened(bits.view(dtype)).astype(np.float64)
    above = widened((bits + np.uint16(1)).view(dtype)).astype(np.float64)
    largest = np.isinf(above) & np.isfinite(below)
    above[largest] = np.copysign(2.0 ** (16 if dtype == HALF else 128), above[largest])
    ties = ((below + above) / 2)[np.isfinite(below)].astype(np.float32)
    for wide in (ties, np.nextafter(ties, np.float32(np.inf)), np.nextafter(ties, np.float32(0))):
        assert_narrowed(wide, dtype)


@every_type
def test_numbers_of_every_exponent(dtype: np.dtype[Any]) -> None:
    step = np.arange(0, 2**32, 1021, dtype=np.uint64)
    random = np.random.default_rng(5).integers(0, 2**32, 2**20, np.uint64)
    for bits in (step, random):
        assert_narrowed(bits.astype(np.uint32).view(np.float32), dtype)


@every_type
def test_infinity_and_nan(dtype: np.dtype[Any]) -> None:
    infinity = np.array([np.inf, -np.inf], np.float32)
    assert_narrowed(infinity, dtype)
    payloads = np.array([0x7F800001, 0x7FFFFFFF, 0x7FC00000, 0x7FFF7FFF, 0x7FA56789], np.uint32)
    for bits in (payloads, payloads | np.uint32(1 << 31)):
        assert_narrowed(bits.view(np.float32), dtype)


@pytest.mark.sampled(24)
@every_type
@pytest.mark.parametrize("count", range(18))
def test_any_count_at_any_place(dtype: np.dtype[Any], count: int) -> None:
    numbers = np.arange(1, 40).astype(dtype)
    for start in range(3):
        some = numbers[start : start + count]
        assert_same_bits(widened(some), some.astype(np.float32))
        out = np.zeros((1, 40), dtype)
        narrow(some.astype(np.float32)[None], out[:, start : start + count])
        assert_same_bits(out[0, start : start + count], some)
        assert not np.delete(out[0], slice(start, start + count)).any()


@every_type
def test_memory_need_not_be_contiguous(dtype: np.dtype[Any]) -> None:
    whole = np.arange(24).reshape(4, 6).astype(dtype)
    for numbers in (whole[::2, 1:4], whole[::-1, 1:4], whole[:, ::2], whole[:, ::-1], whole.T):
        assert widened(numbers).tolist() == numbers.astype(np.float32).tolist()
    for out in (np.zeros((4, 6), dtype)[::2, 1:4], np.zeros((4, 6), dtype)[::-2, 1:4]):
        narrow(np.arange(6, dtype=np.float32).reshape(2, 3), out)
        assert out.astype(np.float32).tolist() == [[0, 1, 2], [3, 4, 5]]


@every_type
def test_no_numbers(dtype: np.dtype[Any]) -> None:
    for shape in ((0,), (0, 3), (3, 0)):
        assert widened(np.empty(shape, dtype)).shape == shape
        narrow(np.empty((0, 3), np.float32), np.empty((0, 3), dtype))


def test_other_numbers_are_left_to_numpy() -> None:
    assert widened(np.array([1, 2.5, 1e300])).tolist() == [1, 2.5, np.inf]
