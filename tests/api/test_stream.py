# SPDX-License-Identifier: Apache-2.0
"""Devices, streams and events."""

from __future__ import annotations

import math
import threading

import numpy as np
import pytest

from pyaclnn.base.errors import ContextError, InvalidArgumentError
from pyaclnn.cann import raw
from pyaclnn.ops import rms_norm
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.device import Device, default_device, device_count
from pyaclnn.runtime.event import Event
from pyaclnn.runtime.handle import live_handles
from pyaclnn.runtime.stream import Stream


def test_a_device_tells_what_it_is(device: Device) -> None:
    assert device.id == 0
    assert device.soc_name.startswith("Ascend")
    free, total = device.memory_info()
    assert 0 < free <= total
    assert device_count() >= 2
    device.synchronize()
    device.synchronize(timeout=900)
    assert repr(device) == "<Device 0, owned>"


def test_the_current_device_is_the_default_and_opening_another_changes_nothing(
    device: Device,
) -> None:
    assert Device.current() is device
    with Device(1) as other:
        assert other.id == 1
        assert Device.current() is device
        with other._active():
            assert default_device() is other
        assert default_device() is device


@pytest.mark.parametrize("device_id", [-1, 1.5, "0", True, 1 << 40])
def test_a_device_id_is_a_number_from_0_on(device_id: int) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        Device(device_id)
    assert str(caught.value) == (
        f"Device(): 'device_id' is {device_id!r}; it must be an integer from 0 to 2147483647."
    )


def test_a_device_that_is_named_as_in_pytorch_is_told_by_its_number() -> None:
    with pytest.raises(InvalidArgumentError, match=r"\nHint: write Device\(1\)\.$"):
        Device("npu:1")  # type: ignore[arg-type]  # that is the point


def test_a_device_that_is_not_there_is_refused_by_cann() -> None:
    with pytest.raises(InvalidArgumentError, match=r"107001 \(ACL_ERROR_RT_INVALID_DEVICEID\)"):
        Device(4711)


def test_closing_a_device_waits_for_what_was_made_on_it() -> None:
    other = Device(1)
    array = to_device(np.ones((2, 4), np.float32), other)
    stream = Stream(other)
    y = rms_norm(array, array[0], stream=stream).y
    before = live_handles()["device"]
    other.close()
    assert live_handles()["device"] == before
    stream.close()
    del array, y
    assert live_handles()["device"] == before - 1


def test_work_on_the_default_stream_is_finished_before_a_device_goes() -> None:
    with Device(1) as other:
        x = to_device(np.ones((2, 4), np.float32), other)
        rms_norm(x, x[0])
        del x


def test_streams_say_whether_they_are_done(stream: Stream) -> None:
    assert stream.is_done()
    x = to_device(np.ones((2, 4), np.float32))
    rms_norm(x, x[0], stream=stream)
    assert stream._timeline.busy
    assert not stream.is_done()
    while not stream.is_done():
        pass
    assert not stream._timeline.busy
    stream.synchronize(timeout=900)


@pytest.mark.pyaclnn(contract=False)
def test_events_order_streams_and_take_the_time(stream: Stream) -> None:
    x = to_device(np.ones((2, 4), np.float32))
    with Stream() as other, Event() as start, Event() as end:
        assert start.is_done()
        other.wait(start)
        assert stream.record(start) is start
        y = rms_norm(x, x[0], stream=stream).y
        stream.record(end)
        other.wait(end)
        z = rms_norm(y, x[0], stream=other).y
        other.synchronize()
        np.testing.assert_allclose(z.numpy(), 1, rtol=1e-3)
        end.synchronize(timeout=900)
        assert end.is_done()
        assert not stream._timeline.busy
        elapsed = start.elapsed_ms(end)
        assert elapsed >= 0
        assert math.isfinite(elapsed)
        with pytest.raises(InvalidArgumentError):
            end.elapsed_ms(start)


@pytest.mark.pyaclnn(contract=False)
def test_waiting_for_an_event_without_a_limit_waits(stream: Stream) -> None:
    x = to_device(np.ones((2, 4), np.float32))
    with Event() as event:
        event.synchronize()  # never recorded: nothing to wait for
        y = rms_norm(x, x[0], stream=stream).y
        stream.record(event)
        z = rms_norm(x, x[0], stream=stream).y
        with pytest.raises(ContextError, match="has still to write"):
            y.numpy()
        event.synchronize()
        np.testing.assert_allclose(y.numpy(), 1, rtol=1e-3)
        # Only what came before the event was waited for.
        assert stream._timeline.busy
        assert event.is_done()
        stream.synchronize()
        np.testing.assert_allclose(z.numpy(), 1, rtol=1e-3)


def test_the_time_of_an_event_that_was_never_recorded_is_refused() -> None:
    with Event() as start, Event() as end, pytest.raises(ContextError) as caught:
        start.elapsed_ms(end)
    assert str(caught.value) == (
        "Event.elapsed_ms(): this event was never recorded.\n"
        "Hint: record it with Stream.record() and synchronize first."
    )


def test_a_borrowed_stream_is_never_destroyed(stream: Stream) -> None:
    x = to_device(np.ones((2, 4), np.float32))
    for handle in (stream.pointer, raw.address_of(stream.pointer)):
        with Stream.borrow(handle) as borrowed:
            assert not borrowed.owned
            y = rms_norm(x, x[0], stream=borrowed).y
            borrowed.synchronize()
            np.testing.assert_allclose(y.numpy(), 1, rtol=1e-3)
    stream.synchronize()
    assert "workspace" not in live_handles()
    # The state of the stream is discarded with the last borrower.
    from pyaclnn.runtime.timelines import borrowed_timelines  # noqa: PLC0415  # only looked at here

    known = [raw.address_of(known.struct.stream) for known in borrowed_timelines(x.device._context)]
    assert raw.address_of(stream.pointer) not in known


@pytest.mark.parametrize("handle", [-1, "7", True, None, 2**64])
def test_a_stream_is_borrowed_by_its_address(handle: int) -> None:
    with pytest.raises(InvalidArgumentError, match="the address of an aclrtStream"):
        Stream.borrow(handle)


def test_a_stream_that_is_never_synchronized_does_not_keep_memory_for_ever(stream: Stream) -> None:
    x = to_device(np.ones((1, 4), np.float32))
    most = 0
    for _ in range(1500):
        rms_norm(x, x[0], stream=stream)
        most = max(most, live_handles()["device memory"])
    # Two arrays a launch; how far the stream has come is asked once in 128 launches.
    assert most <= 2 * 4 * 128 + 2
    stream.synchronize()


def test_objects_work_from_any_thread(device: Device, stream: Stream) -> None:
    x = to_device(np.full((2, 4), 3, np.float32))
    gamma = to_device(np.ones(4, np.float32))
    results: list[bool] = []

    def work() -> None:
        for _ in range(20):
            with Stream(device) as own:
                for queue in (own, stream):
                    y = rms_norm(x, gamma, stream=queue).y
                    queue.synchronize()
                    results.append(np.allclose(y.numpy(), 1, rtol=1e-3))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 160


def test_a_new_thread_without_a_device_uses_the_default_one() -> None:
    seen: list[object] = []

    def work() -> None:
        seen.append(Device.current())
        seen.append(rms_norm(np.ones((1, 4), np.float32), np.ones(4, np.float32)).y.shape)
        seen.append(default_device())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [None, (1, 4), default_device()]
