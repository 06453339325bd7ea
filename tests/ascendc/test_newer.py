# SPDX-License-Identifier: Apache-2.0
"""Kernels as newer releases write them, against NumPy."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyaclnn import ascendc
from pyaclnn.ascendc import CompileError, KernelFault

from .conftest import HEAD, write

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Build

_THREADS = "Ascend950PR_9579"
RNG = np.random.default_rng(11)


def test_threads_wait_for_one_another(build: Build) -> None:
    x = RNG.integers(-50, 50, (3, 64)).astype(np.float32)
    y = np.zeros(8 + 3 * 64, np.float32)
    y[1] = -1e9
    build("newer.cpp", "sums", soc=_THREADS).launch(3, x, y, 64)
    np.testing.assert_array_equal(y[:2], [x.sum(), x.sum(1).max()])
    np.testing.assert_array_equal(y[8::64], x.sum(1))


def test_a_thread_that_leaves_the_others_waiting_is_reported(build: Build) -> None:
    x, y = np.zeros((1, 64), np.float32), np.zeros(72, np.float32)
    with pytest.raises(KernelFault, match="3 of 64 threads wait here, and the others have ended"):
        build("newer.cpp", "sums", soc=_THREADS).launch(1, x, y, 3)


def test_threads_in_cplusplus_manner(build: Build) -> None:
    x = np.zeros(8, np.int32)
    build("newer.cpp", "filled", soc=_THREADS).launch(1, x)
    np.testing.assert_array_equal(x, 8)


def test_the_place_of_a_thread_is_refused_elsewhere(build: Build) -> None:
    with pytest.raises(KernelFault, match="it is for functions of threads: asc_vf_call"):
        build("newer.cpp", "alone", soc=_THREADS).launch(1, np.zeros(8, np.uint8))


@pytest.mark.exhaustive
def test_a_chip_without_threads_is_named(build: Build) -> None:
    with pytest.raises(KernelFault, match="this chip has no threads; Ascend 950 has them"):
        build("newer.cpp", "filled").launch(1, np.zeros(8, np.int32))


def test_tensors_lie_at_addresses_and_structures_come_by_value(build: Build) -> None:
    x, y = RNG.integers(-9, 9, 256).astype(np.float32), np.zeros(256, np.float32)
    kernel = build("newer.cpp", "placed", soc=_THREADS)
    kernel.launch(1, x, y, struct.pack("ff", 3, 0.5), 1024)
    np.testing.assert_array_equal(y, 3 * x + 0.5)
    with pytest.raises(KernelFault, match="the structure has 8 bytes; the launch gave 4"):
        kernel.launch(1, x, y, struct.pack("f", 3), 1024)
    with pytest.raises(KernelFault, match="the address is 1040; it must be a multiple of 32"):
        kernel.launch(1, x, y, struct.pack("ff", 3, 0.5), 1040)


def test_cube_and_vector_cores_share_a_block(build: Build) -> None:
    a, b = RNG.integers(-5, 5, (2, 32, 32)).astype(np.float16)
    c = np.zeros((32, 32), np.float32)
    build("newer.cpp", "mixed", soc=_THREADS).launch(1, a, b, c)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32) + 1)


def test_a_function_that_is_missing_is_named(tmp_path: Path, cache_dir: Path) -> None:
    text = 'extern "C" __global__ __aicore__ void k(GM_ADDR x) { AscendC::Imagine(x); }'
    with pytest.raises(CompileError, match="Of Ascend C, Imagine is not simulated"):
        ascendc.compile(write(tmp_path, HEAD + text), cache_dir=cache_dir)
