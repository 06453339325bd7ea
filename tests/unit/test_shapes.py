# SPDX-License-Identifier: Apache-2.0
"""Shapes and strides, against NumPy arrays that do exist."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from pyaclnn.base.errors import InvalidArgumentError
from pyaclnn.runtime.shapes import overlap, phantom, shape_of, span, strides_of

SHAPES = st.lists(st.integers(0, 4), max_size=4).map(tuple)


@pytest.mark.parametrize(
    ("shape", "expected"), [(3, (3,)), ((), ()), ([2, 0], (2, 0)), (np.int64(5), (5,))]
)
def test_a_shape_is_a_length_or_a_sequence_of_them(shape: Any, expected: tuple[int, ...]) -> None:
    assert shape_of(shape, "f") == expected


@pytest.mark.parametrize(
    "shape", [-1, (2, -1), 2.5, "ab", None, (True, 2), (1.0,), 2**63, (2, 2**63), {2, 3}, {2: 3}]
)
def test_anything_else_is_refused(shape: Any) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        shape_of(shape, "f", "normalized_shape")
    assert str(caught.value) == (
        f"f(): 'normalized_shape' is {shape!r}; it must be an integer, or a tuple of integers, "
        "of 0 or more and below 2**63."
    )


@given(st.lists(st.integers(1, 4), max_size=4).map(tuple))
def test_strides_of_a_contiguous_array_are_numpys(shape: tuple[int, ...]) -> None:
    assert strides_of(None, shape, 4, "f") == np.empty(shape, np.float32).strides


@given(SHAPES, st.integers(1, 3))
def test_the_span_ends_behind_the_last_byte(shape: tuple[int, ...], step: int) -> None:
    strides = tuple(s * step for s in np.empty(shape, np.int16).strides)
    places = [sum(map(math.prod, zip(index, strides, strict=True))) for index in np.ndindex(shape)]
    assert span(shape, strides, 2) == (max(places) + 2 if places else 0)


def test_a_phantom_has_the_layout_of_memory_that_nobody_reads() -> None:
    array = phantom((3, 2), (64, 4), 4, 0x7000_0000_0000)
    assert array.shape == (3, 2)
    assert array.strides == (64, 4)
    assert array[1:, ::2].__array_interface__["data"][0] == 0x7000_0000_0000 + 64


@given(st.integers(0, 40), st.integers(1, 5), st.integers(0, 40), st.integers(1, 5))
def test_overlap_is_decided_byte_by_byte(a: int, step_a: int, b: int, step_b: int) -> None:
    first = phantom((4,), (step_a * 2,), 2, 1000 + a)
    second = phantom((4,), (step_b * 2,), 2, 1000 + b)
    bytes_a = {1000 + a + i * step_a * 2 + k for i in range(4) for k in range(2)}
    bytes_b = {1000 + b + i * step_b * 2 + k for i in range(4) for k in range(2)}
    assert overlap(first, second) == bool(bytes_a & bytes_b)
