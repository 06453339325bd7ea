# SPDX-License-Identifier: Apache-2.0
"""This room runs on the simulated NPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pyaclnn import mock
from pyaclnn.cann.library import select_backend
from pyaclnn.runtime.device import Device, default_device
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def device() -> Device:
    assert select_backend("mock").name == "mock"
    return default_device()


@pytest.fixture(autouse=True)
def _no_rule_was_broken_before(device: Device) -> None:
    assert device.id == 0
    mock.clear_violations()


@pytest.fixture
def stream(device: Device) -> Iterator[Stream]:
    with Stream(device) as made:
        yield made
