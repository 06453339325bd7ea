# SPDX-License-Identifier: Apache-2.0
"""Special functions in C against those of Python's own library."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyaclnn.reference.kernels.functions.special import erf, erfc, lgamma

if TYPE_CHECKING:
    from collections.abc import Callable

NUMBERS = np.array([0, -0.0, 1e-300, 0.5, -0.5, 1, 2.5, -2.5, 6, 27, -27, 170.5, np.inf, np.nan])


@pytest.mark.parametrize(
    ("ours", "theirs", "numbers"),
    [
        (erf, math.erf, [*NUMBERS, -np.inf]),
        (erfc, math.erfc, [*NUMBERS, -np.inf]),
        (lgamma, math.lgamma, [number for number in NUMBERS if number not in (0, -27)]),
    ],
)
def test_they_are_those_of_python(
    ours: Callable[[object], object], theirs: Callable[[float], float], numbers: list[float]
) -> None:
    expected = [theirs(float(number)) for number in numbers]
    np.testing.assert_allclose(np.asarray(ours(np.array(numbers))), expected, rtol=1e-14)


def test_the_gamma_function_has_poles() -> None:
    assert list(lgamma(np.array([0.0, -0.0, -1.0, -27.0, -np.inf]))) == [math.inf] * 5


def test_layouts_and_types_make_no_difference() -> None:
    square = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)
    expected = [math.erf(number) for number in square.T.ravel()]
    assert list(erf(square.T).ravel()) == expected
    assert erf(square[::2, ::3]).shape == (2, 2)
    assert erf(np.zeros((0, 3), np.int8)).shape == (0, 3)
    with pytest.raises(TypeError):
        erf(np.array([1j]))
