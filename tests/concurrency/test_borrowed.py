# SPDX-License-Identifier: Apache-2.0
"""A stream of the host that is closed here with work in flight gives its memory back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pyaclnn import mock
from pyaclnn.cann import raw
from pyaclnn.ops import rms_norm
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from pyaclnn.runtime.device import Device

ROWS = np.ones((2, 8), np.float32)


def test_streams_left_with_work_in_flight_keep_no_memory(device: Device) -> None:
    gamma = to_device(ROWS[0])
    before = device.memory_info().free
    slot = raw.ffi.new("void **")
    for _ in range(20):
        with device._active():
            assert raw.aclrtCreateStream(slot) == 0
        with Stream.borrow(slot[0], device) as borrowed:
            x = to_device(ROWS)
            rms_norm(x, gamma, stream=borrowed)
            del x
        with device._active():
            assert raw.aclrtDestroyStream(slot[0]) == 0
    with Stream.borrow(0, device):  # whoever borrows asks for those that were left
        pass
    assert before - device.memory_info().free <= 1 << 20
    assert mock.violations() == []
