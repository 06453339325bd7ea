# SPDX-License-Identifier: Apache-2.0
"""Kernels of the matrix unit, against NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray

from pyaclnn.ascendc import KernelFault

if TYPE_CHECKING:
    from .conftest import Build

# One program with all of them, which takes the compiler long.
pytestmark = pytest.mark.exhaustive

Array = NDArray[Any]
M, N, K = 32, 64, 48
TILING = ("usedCoreNum", "M", "N", "Ka", "Kb", "singleCoreM", "singleCoreN", "singleCoreK",
          "baseM", "baseN", "baseK", "depthA1", "depthB1", "stepM", "stepN", "isBias")  # fmt: skip


def tiling(**fields: int) -> Array:
    return np.array([fields.get(name, 0) for name in TILING] + [0] * 34, np.int32)


def numbers(*shape: int, seed: int = 0) -> Array:
    values = np.random.default_rng(seed).integers(-8, 8, shape)
    return np.asarray(values / 4, np.float16)


@pytest.mark.parametrize("steps", [1, 3])
def test_a_product_of_halves_is_added_in_float(steps: int, build: Build) -> None:
    a, b, c = numbers(M, K), numbers(K, N, seed=1), np.zeros((M, N), np.float32)
    build("products.cpp", "mmad_half").launch(1, a, b, c, steps)
    exact = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_array_equal(c, np.maximum(exact, 0))


@pytest.mark.parametrize("steps", [1, 2])
def test_a_product_of_bytes_is_added_in_int32(steps: int, build: Build) -> None:
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-128, 128, (rows, 64)).astype(np.int8) for rows in (M, N))
    c = np.zeros((M, N), np.int32)
    build("products.cpp", "mmad_int8").launch(1, a, b, c, steps)
    np.testing.assert_array_equal(c, np.maximum(a.astype(np.int32) @ b.T.astype(np.int32), 0))


def test_matmul_gives_block_after_block_to_both_vector_cores(build: Build) -> None:
    a, b, c = numbers(64, K), numbers(N, K, seed=1), np.zeros((64, N), np.float32)
    bias = np.arange(N, dtype=np.float32)
    fields = {"M": 64, "N": N, "Ka": K, "Kb": K, "singleCoreM": 32, "singleCoreN": N}
    blocks = {"singleCoreK": K, "baseM": 16, "baseN": 32, "baseK": 16, "isBias": 1}
    kernel = build("products.cpp", "matmul_relu")
    kernel.launch(1, a, b, bias, c, workspace=32, tiling=tiling(**fields, **blocks))
    exact = a.astype(np.float32) @ b.T.astype(np.float32) + bias
    np.testing.assert_array_equal(c, np.maximum(exact, 0))


def test_matmul_takes_transposed_operands_and_a_tail(build: Build) -> None:
    a, b, c = numbers(K, 40), numbers(K, N, seed=1), np.zeros((40, N), np.float16)
    fields = {"M": 40, "N": N, "Ka": K, "Kb": K, "singleCoreM": 32, "singleCoreN": N}
    blocks = {"singleCoreK": K, "baseM": 32, "baseN": 32, "baseK": 16}
    kernel = build("products.cpp", "matmul_tail")
    kernel.launch(2, a, b, c, workspace=32, tiling=tiling(**fields, **blocks))
    exact = a.T.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_array_equal(c, exact.astype(np.float16))


def test_the_cores_of_a_block_wait_for_one_another(build: Build) -> None:
    x = np.arange(3, dtype=np.int32)
    build("products.cpp", "in_turns").launch(3, x, 0)
    np.testing.assert_array_equal(x, (np.arange(3) + 1) * 10 + 3)


def test_a_flag_that_is_never_set_is_reported(build: Build) -> None:
    with pytest.raises(KernelFault, match="flag 2 is never set by the other cores of the block"):
        build("products.cpp", "in_turns").launch(2, np.zeros(2, np.int32), 1)
