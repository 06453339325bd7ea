# SPDX-License-Identifier: Apache-2.0
"""Tensors that cross threads by DLPack: one thread makes them, another uses and drops them."""

from __future__ import annotations

import gc
import queue
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn import from_dlpack, live_handles
from pyaclnn.ops import rms_norm
from pyaclnn.runtime.creation import to_device

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.runtime.device import Device

THREADS = 4
GAMMA = np.ones(8, np.float32)


def exchange(rounds: int, make: Callable[[int], Any], use: Callable[[Any], Any]) -> None:
    """Make tensors in some threads, and use and drop them in others, in any order."""
    made: queue.Queue[tuple[int, Any]] = queue.Queue()

    def produce(first: int) -> None:
        for number in range(first + 1, rounds + 1, THREADS):
            made.put((number, make(number)))

    def consume(_: int) -> None:
        for _ in range(rounds // THREADS):
            number, tensor = made.get(timeout=900)
            np.testing.assert_array_equal(use(tensor), np.full((4, 8), number, np.float32))

    with ThreadPoolExecutor(2 * THREADS) as pool:
        producers = [pool.submit(produce, number) for number in range(THREADS)]
        consumers = [pool.submit(consume, number) for number in range(THREADS)]
        for job in (*consumers, *producers):
            job.result(timeout=900)


def there_and_back(tensor: Any) -> Any:
    """Copy a host tensor of another library to the device and back."""
    array = to_device(tensor)
    assert np.allclose(rms_norm(tensor, GAMMA).y, 1, rtol=1e-4)
    return array.numpy()


ROUNDS = [200, pytest.param(4_000, marks=pytest.mark.exhaustive)]


@pytest.mark.parametrize("rounds", ROUNDS)
def test_arrays_of_numpy_cross_threads(rounds: int) -> None:
    def make(number: int) -> Any:
        return np.from_dlpack(np.full((4, 8), number, np.float32))

    exchange(rounds, make, there_and_back)


@pytest.mark.parametrize("rounds", ROUNDS)
def test_tensors_of_pytorch_cross_threads(rounds: int, torch: Any) -> None:
    exchange(rounds, lambda number: torch.full((4, 8), float(number)), there_and_back)
    exchange(
        rounds,
        lambda number: to_device(np.full((4, 8), number, np.float32)),
        lambda array: torch.from_dlpack(array.numpy()).numpy(),
    )


@pytest.mark.parametrize("rounds", ROUNDS)
def test_device_arrays_cross_threads(rounds: int, device: Device) -> None:
    gc.collect()
    before = live_handles()

    def make(number: int) -> Any:
        return from_dlpack(to_device(np.full((4, 8), number, np.float32)))

    exchange(rounds, make, lambda array: from_dlpack(array).numpy())
    device.synchronize()
    gc.collect()
    assert live_handles() == before
