# SPDX-License-Identifier: Apache-2.0
"""Comparison, selection, gathering and extremes of the vector unit against NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import Build

pytestmark = pytest.mark.exhaustive

Array = NDArray[Any]
N = 256
TYPES = {"half": np.float16, "float": np.float32}
MODES = [np.less, np.greater, np.equal, np.less_equal, np.greater_equal, np.not_equal]


def extreme(where: Callable[[Array], Any]) -> Callable[[Array, Array], Array]:
    """Return the first extreme, then its index as bits of the element's type."""

    def expected(x: Array, y: Array) -> Array:
        del y
        index = np.array([where(x)], f"u{x.itemsize}").view(x.dtype)
        return np.concatenate([x[[where(x)]], index, np.zeros(N - 2, x.dtype)])

    return expected


def bits(function: Callable[[Array, Array], Array]) -> Callable[[Array, Array], Array]:
    return lambda x, y: function(x.view(np.int16), y.view(np.int16)).view(x.dtype)


def chosen(mode: Any) -> Callable[[Array, Array], Array]:
    return lambda x, y: np.where(mode(x, y), x, y)


def kept(mode: Any) -> Callable[[Array, Array], Array]:
    return lambda x, _y: np.where(mode(x, 1), x, x.dtype.type(-9))


CALLS: list[Callable[[Array, Array], Array]] = [
    *(chosen(mode) for mode in MODES),
    *(kept(mode) for mode in MODES),
    lambda x, _y: np.where(x >= 0, x, x * x.dtype.type(0.5)),
    lambda x, y: (y.astype(np.float32) + x.astype(np.float32) * 2).astype(x.dtype),
    lambda x, _y: (3 + np.arange(N)).astype(x.dtype),
    extreme(np.argmax),
    extreme(np.argmin),
    bits(np.bitwise_and),
    bits(np.bitwise_or),
    lambda x, _y: x[::-1],
]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("which", range(len(CALLS)))
def test_calls(which: int, kind: str, build: Build) -> None:
    rng = np.random.default_rng(which)
    x, y = (rng.integers(-8, 8, N).astype(TYPES[kind]) / 4 for _ in range(2))
    x, y, z = x.astype(TYPES[kind]), y.astype(TYPES[kind]), np.zeros(N, TYPES[kind])
    build("comparison.cpp", f"choice_{kind}").launch(1, x, y, z, which, N)
    expected, bits_of = CALLS[which](x, y), f"u{z.itemsize}"
    np.testing.assert_array_equal(z.view(bits_of), expected.view(bits_of))


@pytest.mark.parametrize("kind", TYPES)
def test_an_offset_between_elements_is_refused(kind: str, build: Build) -> None:
    x = np.zeros(N, TYPES[kind])
    with pytest.raises(Exception, match=r"srcOffset: offset .* is no multiple of the element's"):
        build("comparison.cpp", f"choice_{kind}").launch(1, x, x.copy(), x.copy(), len(CALLS), N)
