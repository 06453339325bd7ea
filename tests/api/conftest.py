# SPDX-License-Identifier: Apache-2.0
"""This room runs on the simulated NPU, says so, and leaves nothing behind."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.cann.library import select_backend
from pyaclnn.facts.accuracy import judge
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.device import Device, default_device
from pyaclnn.runtime.stream import Stream
from tests.fork_server import run_program

from .plan_arguments import random

if TYPE_CHECKING:
    import subprocess

    from numpy.typing import NDArray

    from pyaclnn.runtime.array import DeviceArray

LeakCheck = Callable[[], AbstractContextManager[None]]


@pytest.fixture(scope="session")
def device(pytestconfig: pytest.Config) -> Device:
    """Return device 0 of the simulated NPU, or of the CANN asked for, opened for the session."""
    wanted = pytestconfig.getoption("--backend")
    assert select_backend(wanted).name == wanted
    return default_device()


@pytest.fixture(autouse=True)
def _nothing_is_left(device: Device, leak_check: LeakCheck) -> Iterator[None]:
    assert not device.closed
    with leak_check():
        yield


@pytest.fixture
def stream(device: Device) -> Iterator[Stream]:
    with Stream(device) as made:
        yield made


@pytest.fixture(scope="session")
def check() -> Callable[..., None]:
    """Return the judge: is a result as good as CANN's accuracy standard asks?"""

    def compare(actual: NDArray[Any], golden: NDArray[np.float64]) -> None:
        assert actual.shape == golden.shape
        verdict = judge(actual, golden)
        assert verdict.passed, str(verdict)

    return compare


@pytest.fixture(scope="session")
def place() -> Callable[[NDArray[Any], str], DeviceArray]:
    """Return a function that puts an array on the device in a layout of that name."""

    def put(host: NDArray[Any], layout: str) -> DeviceArray:
        if layout == "contiguous":
            return to_device(host)
        if layout == "offset":
            padded = np.zeros(host.size + 3, host.dtype)
            padded[3:] = host.ravel()
            return to_device(padded)[3:].reshape(host.shape)
        if layout == "strided":
            wide = np.zeros((*host.shape[:-1], 2 * host.shape[-1]), host.dtype)
            wide[..., ::2] = host
            return to_device(wide)[..., ::2]
        assert layout == "transposed"
        return to_device(np.ascontiguousarray(host.T)).T

    return put


@pytest.fixture(scope="session")
def run_python(pytestconfig: pytest.Config) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Return a function that runs code in a process of its own, on the same backend."""
    backend = pytestconfig.getoption("--backend")

    def run(code: str, **environment: str | None) -> subprocess.CompletedProcess[str]:
        variables = {**os.environ, "PYACLNN_BACKEND": backend, **environment}
        kept = {key: value for key, value in variables.items() if value is not None}
        return run_program([sys.executable, "-W", "error", "-c", code], kept)

    return run


@pytest.fixture
def x(stream: Stream) -> Iterator[DeviceArray]:
    """Return three rows of eight numbers, which the stream has passed when they are closed."""
    array = random(3, 8)
    yield array
    array.close()
    stream.synchronize()


@pytest.fixture
def gamma(stream: Stream) -> Iterator[DeviceArray]:
    """Return the weights of such rows, likewise."""
    array = random(8)
    yield array
    array.close()
    stream.synchronize()
