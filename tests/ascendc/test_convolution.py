# SPDX-License-Identifier: Apache-2.0
"""Feature maps for the matrix unit, against sums over windows in NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.ascendc import KernelFault

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .conftest import Build

# A program of its own, which takes the compiler long.
pytestmark = pytest.mark.exhaustive

HIGH, WIDE, CHANNELS, FILTERS = 6, 8, 32, 16
RNG = np.random.default_rng(5)
MAP = RNG.integers(-4, 5, (CHANNELS, HIGH, WIDE)).astype(np.float16)
WEIGHTS = RNG.integers(-3, 4, (FILTERS, CHANNELS, 3, 3)).astype(np.float16)


def in_blocks(x: NDArray[Any]) -> NDArray[Any]:
    """Put blocks of 16 channels first, the channels of a block last."""
    return np.ascontiguousarray(np.moveaxis(x.reshape(2, 16, *x.shape[1:]), 1, -1))


@pytest.mark.parametrize(("first", "pad"), [(0, 0), (4, 1)])
def test_a_convolution_is_a_product_of_what_the_filter_covers(
    first: int, pad: int, build: Build
) -> None:
    bordered = np.pad(MAP.astype(float), ((0, 0), (0, pad), (0, pad)), constant_values=0.5)
    windows = np.lib.stride_tricks.sliding_window_view(bordered, (3, 3), (1, 2))[:, ::2]
    exact = np.einsum("chwij,ncij->hwn", windows, WEIGHTS.astype(float)).reshape(-1, FILTERS)
    exact = exact[first : first + 16]
    weights = in_blocks(np.moveaxis(WEIGHTS, 0, -1)).swapaxes(3, 4).reshape(-1, FILTERS)
    y = np.zeros(exact.shape, np.float32)
    kernel = build("convolution.cpp", "convolution")
    kernel.launch(1, in_blocks(MAP), np.ascontiguousarray(weights), y, len(y), first, pad)
    np.testing.assert_array_equal(y, exact)


def test_a_part_behind_the_last_place_is_refused(build: Build) -> None:
    x, weights = np.zeros(MAP.size, np.float16), np.zeros(WEIGHTS.size, np.float16)
    with pytest.raises(KernelFault, match="the matrix has 12 rows and 288 columns; from row"):
        build("convolution.cpp", "convolution").launch(
            1, x, weights, np.zeros(192, np.float32), 12, 12, 0
        )
