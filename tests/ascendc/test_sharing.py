# SPDX-License-Identifier: Apache-2.0
"""Kernels that share memory, lists and turns, against NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.ascendc import KernelFault

if TYPE_CHECKING:
    from .conftest import Build

RNG = np.random.default_rng(5)
BYTES = 64 * 4


def launch_pools(build: Build, size: int, shared: int) -> Any:
    x = RNG.normal(size=(3, 64)).astype(np.float32)
    build("sharing.cpp", "pools").launch(1, *x, size, shared)
    return x


def test_a_pool_gives_its_memory_to_another_step(build: Build) -> None:
    x, y, z = launch_pools(build, BYTES, 2 * BYTES)
    np.testing.assert_allclose(y, np.exp(x.astype(float)), rtol=1e-6)
    np.testing.assert_allclose(z, np.exp(y.astype(float)), rtol=1e-6)


@pytest.mark.parametrize(
    ("size", "shared", "match"),
    [
        (BYTES, 2 * BYTES + 32, "544 bytes do not fit into the pool that it shares, which has 512"),
        (2 * BYTES, 2 * BYTES, "512 bytes do not fit: .* of which 0 are left here"),
    ],
)
def test_a_pool_has_no_more_than_it_was_given(
    size: int, shared: int, match: str, build: Build
) -> None:
    with pytest.raises(KernelFault, match=match):
        launch_pools(build, size, shared)


def test_a_list_describes_its_tensors(build: Build) -> None:
    shapes = [(3,), (2, 5), (), (1, 2, 3)]
    xs = [np.asarray(RNG.integers(0, 9, shape), np.float32) for shape in shapes]
    ys = [np.zeros_like(x) for x in xs]
    build("sharing.cpp", "lists").launch(1, xs, ys, 0)
    for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
        np.testing.assert_array_equal(y, x * x.size + i)


def test_a_list_ends_with_its_last_tensor(build: Build) -> None:
    xs = [np.zeros(4, np.float32)] * 2
    with pytest.raises(KernelFault, match="the list describes no tensor 2"):
        build("sharing.cpp", "lists").launch(1, xs, [np.zeros(4, np.float32)] * 2, 1)


def test_blocks_wait_for_the_event_of_the_one_before(build: Build) -> None:
    x = RNG.integers(-9, 9, 7).astype(np.float32)
    exact = x.cumsum()
    build("sharing.cpp", "running_sums").launch(7, x, np.zeros(512, np.int32), 6)
    np.testing.assert_array_equal(x, exact)


def test_an_event_that_a_block_never_sets_is_reported(build: Build) -> None:
    with pytest.raises(KernelFault, match="block 1 never sets its event 3"):
        build("sharing.cpp", "running_sums").launch(
            3, np.zeros(3, np.float32), np.zeros(512, np.int32), 1
        )


def launch_scaled(build: Build, by_vector: int) -> tuple[Any, Any]:
    a, b = (RNG.integers(-128, 128, (rows, 64)).astype(np.int8) for rows in (16, 64))
    scales = RNG.uniform(1e-5, 1e-3, 64).astype(np.float32)
    c = np.zeros((16, 64), np.float16)
    bits = scales.view(np.uint32).astype(np.uint64)
    build("sharing.cpp", "scaled_columns").launch(1, a, b, bits, c, by_vector)
    return c, (a.astype(np.int64) @ b.T.astype(np.int64)) * scales


def test_each_column_of_a_product_has_its_scale(build: Build) -> None:
    result, exact = launch_scaled(build, 1)
    np.testing.assert_allclose(result, exact, rtol=1e-3, atol=1e-4)


def test_scales_belong_to_a_mode_of_vectors(build: Build) -> None:
    with pytest.raises(KernelFault, match="needs a mode that begins with V"):
        launch_scaled(build, 0)
