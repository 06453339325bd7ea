# SPDX-License-Identifier: Apache-2.0
"""Memory that queued work still uses is not overwritten by copies that wait for nothing."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn import mock
from pyaclnn.base.errors import ContextError
from pyaclnn.cann.gate import call
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.device import Device
from pyaclnn.runtime.event import Event
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HOST = np.arange(8, dtype=np.float32)
SEVENS = np.full(8, 7, np.float32)
PATIENCE = 300


@pytest.fixture(autouse=True)
def no_violation() -> Iterator[None]:
    before = mock.violations()
    yield
    assert mock.violations() == before


@pytest.fixture
def x(device: Device) -> Iterator[DeviceArray]:
    made = to_device(HOST, device)
    yield made
    made.close()


def test_an_assignment_waits_for_work_that_reads_the_part(device: Device, x: DeviceArray) -> None:
    y = x + 1
    x[0] = 50
    assert x.numpy().tolist() == [50, 1, 2, 3, 4, 5, 6, 7]
    device.synchronize()
    assert (y.numpy() == HOST + 1).all()


def test_an_assignment_waits_for_work_that_writes_the_part(x: DeviceArray) -> None:
    x += 1
    x[:2] = 50
    assert x.numpy().tolist() == [50, 50, 3, 4, 5, 6, 7, 8]


def test_an_assignment_waits_for_other_streams(device: Device, x: DeviceArray) -> None:
    with Stream(device) as stream:
        y = DeviceArray.empty(x.shape, x.dtype, device)
        y.copy_from(x, stream)
        x[...] = SEVENS
        assert (y.numpy() == HOST).all()


@pytest.mark.parametrize("index", [..., slice(4), slice(None, None, 2)])
def test_an_assignment_waits_for_its_values(x: DeviceArray, index: Any) -> None:
    x[index] = x[index] + 1
    expected = HOST.copy()
    expected[index] += 1
    assert (x.numpy() == expected).all()


WAYS: dict[str, Callable[[DeviceArray], object]] = {
    "copy_from": lambda x: x.copy_from(SEVENS),
    "copy_from a device array": lambda x: x.copy_from(to_device(SEVENS, x.device)),
    "fill_bytes": lambda x: x.fill_bytes(0),
}
USES: dict[str, Callable[[DeviceArray], object]] = {
    "read": lambda x: x + 1,
    "write": lambda x: x.__iadd__(1),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("use", USES)
def test_a_copy_is_refused_where_queued_work_uses_the_bytes(
    device: Device, x: DeviceArray, use: str, way: str
) -> None:
    other = USES[use](x)
    with pytest.raises(ContextError, match=f"default stream has still to {use} this array"):
        WAYS[way](x)
    device.synchronize()
    WAYS[way](x)
    assert set(x.numpy()) <= {0, 7}
    del other


@pytest.mark.parametrize("way", WAYS)
def test_other_bytes_of_the_same_memory_can_be_overwritten(
    device: Device, x: DeviceArray, way: str
) -> None:
    whole = DeviceArray.empty((16,), x.dtype, device)
    whole[:8] = HOST
    y = whole[:8] + 1
    WAYS[way](whole[8:])
    device.synchronize()
    assert (y.numpy() == HOST + 1).all()


@pytest.mark.parametrize("part", [slice(1), slice(7, 8)])
def test_uses_of_several_parts_are_all_known(device: Device, x: DeviceArray, part: slice) -> None:
    ends = x[:2] + 1, x[6:] + 1
    with pytest.raises(ContextError, match="still to read"):
        x[part].fill_bytes(0)
    device.synchronize()
    assert [end.numpy().tolist() for end in ends] == [[1, 2], [7, 8]]


@pytest.mark.parametrize("slots", [2, 4])
def test_a_slot_of_a_ring_is_overwritten_when_its_own_work_has_passed(
    device: Device, slots: int
) -> None:
    ring, results = (DeviceArray.empty((slots, 8), np.float32, device) for _ in range(2))
    with Stream(device) as stream, contextlib.ExitStack() as stack:
        events = list[Event]()
        for turn in range(3 * slots):
            slot = turn % slots
            if turn < slots:
                events.append(stack.enter_context(Event(device)))
            else:
                events[slot].synchronize()
                assert (results[slot].numpy() == HOST + turn - slots).all()
            ring[slot].copy_from(HOST + turn)
            results[slot].copy_from(ring[slot], stream)
            stream.record(events[slot])
        stream.synchronize()


def test_a_wait_by_the_host_application_counts(x: DeviceArray) -> None:
    y = x + 1
    call("aclrtSynchronizeDevice")
    x.copy_from(SEVENS)
    assert (y.numpy() == HOST + 1).all()


def test_a_copy_on_the_stream_of_the_work_is_queued_behind_it(device: Device) -> None:
    with Stream(device) as stream:
        x, y = to_device(HOST, device), DeviceArray.empty((8,), np.float32, device)
        y.copy_from(x, stream)
        x.fill_bytes(0, stream)
        stream.synchronize()
        assert (y.numpy() == HOST).all()
        assert not x.numpy().any()


def test_an_assignment_waits_for_other_streams_and_not_for_what_they_do_afterwards(
    device: Device, x: DeviceArray
) -> None:
    gate = threading.Event()

    def queue_more() -> None:
        time.sleep(0.2)  # until the assignment waits
        stream.launch_host_func(gate.wait, PATIENCE)

    with Stream(device) as stream:
        y = DeviceArray.empty(x.shape, x.dtype, device)
        y.copy_from(x, stream)
        stream.launch_host_func(queue_more)
        x[...] = SEVENS
        gate.set()
        stream.synchronize()
    assert (y.numpy() == HOST).all()
    assert (x.numpy() == SEVENS).all()


@pytest.mark.parametrize("queue", [Stream, Stream.default])
def test_an_assignment_waits_for_streams_of_other_devices(
    x: DeviceArray, queue: Callable[[Device], Stream]
) -> None:
    with Device(1) as other:
        stream, y = queue(other), DeviceArray.empty(x.shape, x.dtype, other)
        stream.launch_host_func(time.sleep, 0.1)
        y.copy_from(x, stream)
        x[...] = SEVENS
        assert (y.numpy() == HOST).all()
        y.close()
        stream.close()


BY_HOST_FUNCTIONS: dict[str, Callable[[DeviceArray], object]] = {
    **WAYS,
    "assignment": lambda x: x.__setitem__(..., SEVENS),
}


@pytest.mark.parametrize("way", BY_HOST_FUNCTIONS)
def test_a_host_function_overwrites_what_its_stream_used_and_will_use(
    device: Device, x: DeviceArray, way: str
) -> None:
    with Stream(device) as stream:
        before, after = (DeviceArray.empty(x.shape, x.dtype, device) for _ in range(2))
        before.copy_from(x, stream)
        called = stream.launch_host_func(BY_HOST_FUNCTIONS[way], x)
        after.copy_from(x, stream)
        called.result(PATIENCE)
        stream.synchronize()
        assert (before.numpy() == HOST).all()
        assert after.numpy()[0] == x.numpy()[0] != HOST[0] or way == "fill_bytes"


def test_a_host_function_reads_what_its_stream_wrote(device: Device, x: DeviceArray) -> None:
    with Stream(device) as stream:
        y = DeviceArray.empty(x.shape, x.dtype, device)
        y.copy_from(x, stream)
        read = stream.launch_host_func(y.numpy)
        y.fill_bytes(0, stream)
        assert (read.result(PATIENCE) == HOST).all()
        stream.synchronize()
