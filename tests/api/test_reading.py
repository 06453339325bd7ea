# SPDX-License-Identifier: Apache-2.0
"""The host reads what is there: what queued work has still to write is refused, or waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn import mock
from pyaclnn.base.errors import ContextError
from pyaclnn.calling.plan import plan
from pyaclnn.cann import raw
from pyaclnn.cann.gate import call
from pyaclnn.ops import rms_norm
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.buffer import Buffer
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.device import Device
from pyaclnn.runtime.pinned import pinned_empty
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROWS = np.arange(1, 17, dtype=np.float32).reshape(2, 8)
GAMMA = np.ones(8, np.float32)
RSTD = 1 / np.sqrt((ROWS**2).mean(axis=-1, keepdims=True) + 1e-6)


@pytest.fixture
def stream() -> Iterator[Stream]:
    mock.clear_violations()
    with mock.mode("deferred"), Stream() as made:
        yield made


def launched(stream: Stream) -> DeviceArray:
    return rms_norm(to_device(ROWS), to_device(GAMMA), stream=stream).rstd


def planned(stream: Stream) -> DeviceArray:
    rstd = DeviceArray.empty((2, 1), np.float32)
    out = (None, rstd)
    with plan(rms_norm, to_device(ROWS), to_device(GAMMA), out=out, stream=stream) as ready:
        ready.run()
    return rstd


def copied(stream: Stream) -> DeviceArray:
    host = pinned_empty((2, 1), np.float32)
    host[...] = RSTD
    return to_device(host, stream=stream)


def on_default(_: Stream) -> DeviceArray:
    return rms_norm(to_device(ROWS), to_device(GAMMA)).rstd


def read(array: DeviceArray) -> np.ndarray[Any, Any]:
    return array.numpy()


def copy(array: DeviceArray) -> np.ndarray[Any, Any]:
    host = np.empty(array.shape, array.dtype)
    array.copy_to(host)
    return host


WRITERS = pytest.mark.parametrize("write", [launched, planned, copied, on_default])
READERS = pytest.mark.parametrize("fetch", [read, copy])


@WRITERS
@READERS
def test_what_is_still_queued_is_not_read(
    write: Callable[[Stream], DeviceArray],
    fetch: Callable[[DeviceArray], np.ndarray[Any, Any]],
    stream: Stream,
) -> None:
    array = write(stream)
    name = "the default stream" if write is on_default else f"0x{raw.address_of(stream.pointer):x}"
    with pytest.raises(ContextError, match=rf"{name} has still to write(.|\n)*numpy\(stream"):
        fetch(array)
    with Stream.default() as queue:
        (queue if write is on_default else stream).synchronize()
    np.testing.assert_allclose(fetch(array), RSTD, rtol=1e-4)
    assert mock.violations() == []


@WRITERS
def test_the_stream_to_wait_for_can_be_named(
    write: Callable[[Stream], DeviceArray], stream: Stream
) -> None:
    array = write(stream)
    named = Stream.default() if write is on_default else stream
    np.testing.assert_allclose(array.numpy(stream=named), RSTD, rtol=1e-4)


def test_naming_another_stream_than_the_one_that_writes_is_refused(stream: Stream) -> None:
    with Stream() as other, pytest.raises(ContextError, match="has still to write"):
        launched(stream).numpy(stream=other)


def wait_for_an_event(stream: Stream) -> None:
    with stream.record() as event:
        event.synchronize()


def wait_on_another_stream(stream: Stream) -> None:
    with Stream() as other, Stream() as third, stream.record() as event:
        other.wait(event)
        with other.record() as later:
            third.wait(later)
        third.synchronize()


def wait_for_the_device(_: Stream) -> None:
    device = Device.current()
    assert device is not None
    device.synchronize()


def wait_by_the_host(stream: Stream) -> None:
    assert raw.aclrtSynchronizeStream(stream.pointer) == 0


def ask(stream: Stream) -> None:
    while not stream.is_done():
        pass


@pytest.mark.parametrize(
    "wait",
    [wait_for_an_event, wait_on_another_stream, wait_for_the_device, wait_by_the_host, ask],
)
def test_every_way_to_wait_counts(wait: Callable[[Stream], None], stream: Stream) -> None:
    array = launched(stream)
    wait(stream)
    np.testing.assert_allclose(array.numpy(), RSTD, rtol=1e-4)


def test_a_wait_for_an_earlier_event_does_not_count(stream: Stream) -> None:
    with stream.record() as event, Stream() as other:
        array = launched(stream)
        other.wait(event)
        other.synchronize()
        with pytest.raises(ContextError, match="has still to write"):
            array.numpy()


def test_other_bytes_of_the_same_memory_can_be_read(stream: Stream) -> None:
    memory = Buffer(256)
    done = DeviceArray(memory, (2, 1), np.float32)
    done.copy_from(RSTD)
    queued = DeviceArray(memory, (2, 1), np.float32, offset=128)
    rms_norm(to_device(ROWS), to_device(GAMMA), stream=stream, out=(None, queued))
    np.testing.assert_array_equal(done.numpy(), RSTD)
    with pytest.raises(ContextError, match="has still to write"):
        queued.numpy()


def test_what_is_only_read_by_queued_work_can_be_read(stream: Stream) -> None:
    x = to_device(ROWS)
    rms_norm(x, to_device(GAMMA), stream=stream)
    np.testing.assert_array_equal(x.numpy(), ROWS)


def test_a_stream_that_its_owner_has_destroyed_writes_no_more() -> None:
    handle = raw.ffi.new("aclrtStream *")
    device = Device.current() or Device(0)
    with mock.mode("deferred"), device._active():
        assert raw.aclrtCreateStream(handle) == 0
        array = launched(Stream.borrow(handle[0]))
        assert raw.aclrtDestroyStream(handle[0]) == 0
    np.testing.assert_allclose(array.numpy(), RSTD, rtol=1e-4)


@pytest.mark.pyaclnn(contract=False)
def test_a_borrower_who_has_not_noticed_that_the_stream_is_gone_can_read() -> None:
    handle = raw.ffi.new("aclrtStream *")
    device = Device.current() or Device(0)
    with mock.mode("deferred"), device._active():
        assert raw.aclrtCreateStream(handle) == 0
        borrowed = Stream.borrow(handle[0])
        array = launched(borrowed)
        assert raw.aclrtDestroyStream(handle[0]) == 0
        np.testing.assert_allclose(array.numpy(), RSTD, rtol=1e-4)
        borrowed._timeline.passed(borrowed._timeline.sync_point)  # as its owner knows
        borrowed.close()


@pytest.mark.pyaclnn(contract=False)
@pytest.mark.parametrize(
    "use", [DeviceArray.numpy, lambda array: array.fill_bytes(0)], ids=["read", "overwrite"]
)
def test_what_a_captured_stream_writes_is_neither_read_nor_overwritten(
    use: Callable[[DeviceArray], object], device: Device, stream: Stream
) -> None:
    launched(stream)
    stream.synchronize()  # the workspace is there
    graph = raw.ffi.new("aclmdlRI *")
    with device._active():
        mode = raw.ACL_MODEL_RI_CAPTURE_MODE_RELAXED
        call("aclmdlRICaptureBegin", stream.pointer, mode)
        array = launched(stream)
        with pytest.raises(ContextError, match="ACL_ERROR_RT_STREAM_CAPTURED"):
            use(array)
        assert raw.aclmdlRICaptureEnd(stream.pointer, graph) == 507903
