# SPDX-License-Identifier: Apache-2.0
"""A device for the length of a test, and nothing left on it."""

from __future__ import annotations

import gc
import os
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from pyaclnn import mock
from pyaclnn.base.errors import BackendNotFoundError, InvalidArgumentError
from pyaclnn.cann.library import select_backend
from pyaclnn.facts.chips import DEFAULT_SOC_NAME
from pyaclnn.runtime.device import Device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyaclnn.cann.library import Backend
    from pyaclnn.pytest_plugin.marker_options import Wish

__all__ = ["opened"]

_SOC = "PYACLNN_MOCK_SOC"


@contextmanager
def opened(backend: str, wish: Wish, passed: Callable[[], bool]) -> Iterator[Device]:
    """Open device 0 of a backend for one test.

    Args:
        backend: What ``select_backend`` takes.
        wish: What the test's markers ask for.
        passed: Tells, at the end, whether the test passed: the traceback of one that did not keeps
            its arrays alive.

    Yields:
        The device. A test that passed and left something on the simulated NPU fails at the end.
    """
    if _load(backend).name != "mock":
        with Device(0) as device:
            yield device
        return
    before = {living.handle for living in mock.alive()}
    mode = nullcontext() if wish.mode is None else mock.mode(wish.mode)
    with _chip(wish.soc), mode, Device(0) as device:
        _require_chip(device)
        yield device
    if not passed():
        return
    gc.collect()
    left = [living for living in mock.alive() if living.handle not in before]
    if left:
        pytest.fail(f"the test left this on the NPU ({len(left)}):\n{_listed(left)}", pytrace=False)


def _load(backend: str) -> Backend:
    try:
        return select_backend(backend)
    except (BackendNotFoundError, InvalidArgumentError) as error:
        message = f"--npu-backend={backend}: {error}"
    pytest.fail(message, pytrace=False)


@contextmanager
def _chip(soc: str | None) -> Iterator[None]:
    previous = os.environ.get(_SOC)
    if soc is not None:
        os.environ[_SOC] = soc
    try:
        yield
    finally:
        if previous is not None:
            os.environ[_SOC] = previous
        else:
            os.environ.pop(_SOC, None)


def _require_chip(device: Device) -> None:
    """An open device stays the chip it is: whoever left it open decides for the next test."""
    wanted = os.environ.get(_SOC) or DEFAULT_SOC_NAME
    found = device.soc_name
    if found == wanted:
        return
    pytest.fail(
        f"this test is to run on {wanted}, and device 0 is still {found}: an earlier test, or what "
        f"outlives it, keeps it open. Alive on it:\n{_listed(mock.alive())}",
        pytrace=False,
    )


def _listed(living: list[Any]) -> str:
    return "\n".join(f"  {thing}" for thing in living)
