# SPDX-License-Identifier: Apache-2.0
"""Device of one test, with the check for leaked resources."""

from __future__ import annotations

import gc
import os
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from pyaclnn import mock
from pyaclnn.base.variable import variable_set
from pyaclnn.cann.library import select_backend
from pyaclnn.facts.chips import DEFAULT_SOC_NAME
from pyaclnn.mock.control.kept_process import keep_process
from pyaclnn.runtime.device import Device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyaclnn.mock import Living
    from pyaclnn.pytest_plugin.marker_options import MarkerOptions

__all__ = ["opened"]

_SOC = "PYACLNN_MOCK_SOC"


@contextmanager
def opened(backend: str, options: MarkerOptions, passed: Callable[[], bool]) -> Iterator[Device]:
    """Open device 0 of a backend for one test.

    Args:
        backend: The argument of ``select_backend``.
        options: The options of the test's markers.
        passed: Returns, at the end, whether the test passed: the traceback of a failed test keeps
            its arrays alive.

    Yields:
        The device. A passing test that leaks resources of the simulated NPU fails at the end.
    """
    if select_backend(backend).name != "mock":
        with Device(0) as device:
            yield device
        return
    before = {resource.handle for resource in mock.alive()}
    keep_process(keep=not options.fresh)
    mode = nullcontext() if options.mode is None else mock.mode(options.mode)
    with variable_set(_SOC, options.soc), mode, Device(0) as device:
        _require_chip(device)
        own = {*mock.alive()}
        yield device
    if not passed():
        return
    left = _left(before)
    if left:
        gc.collect()  # takes longer than most tests
        left = _left(before)
    # The fixture's device, which leaked objects keep open, is no leak of its own.
    left = [resource for resource in left if resource not in own] or left
    if left:
        pytest.fail(f"the test left this on the NPU ({len(left)}):\n{_listed(left)}", pytrace=False)


def _left(before: set[str]) -> list[Living]:
    return [resource for resource in mock.alive() if resource.handle not in before]


def _require_chip(device: Device) -> None:
    """Fail the test if the device is already open as another chip."""
    wanted = os.environ.get(_SOC) or DEFAULT_SOC_NAME
    found = device.soc_name
    if found == wanted:
        return
    pytest.fail(
        f"this test requires {wanted}, but device 0 is already open as {found}: an earlier "
        "test, or an object that outlives it, keeps it open. Alive on it:\n"
        f"{_listed(mock.alive())}",
        pytrace=False,
    )


def _listed(resources: list[Any]) -> str:
    return "\n".join(f"  {resource}" for resource in resources)
