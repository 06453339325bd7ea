# SPDX-License-Identifier: Apache-2.0
"""Host functions that wait for their own stream: refused in the function, which then returns."""

from __future__ import annotations

import gc
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn.base.errors import ContextError
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.runtime.device import Device

X = np.ones((2, 8), np.float32)


def wait_for_event(stream: Stream) -> None:
    with stream.record() as event:
        event.synchronize()


WAITS: dict[str, Callable[[Device, Stream, Any], object]] = {
    "synchronize": lambda _, stream, __: stream.synchronize(),
    "synchronize with a limit": lambda _, stream, __: stream.synchronize(timeout=900),
    "close": lambda _, stream, __: stream.close(),
    "synchronize the device": lambda device, _, __: device.synchronize(),
    "read": lambda _, stream, array: array.numpy(stream=stream),
    "an event behind": lambda _, stream, __: wait_for_event(stream),
}


@pytest.mark.parametrize("name", WAITS)
def test_a_wait_for_the_own_stream_is_refused(device: Device, stream: Stream, name: str) -> None:
    array = to_device(X, device)
    waiting = stream.launch_host_func(lambda: WAITS[name](device, stream, array))
    stream.synchronize(timeout=900)
    with pytest.raises(ContextError, match="a host function of a stream waits for that stream"):
        waiting.result()
    assert not stream.closed


@pytest.mark.parametrize("method", ["result", "exception"])
def test_the_result_of_a_later_function_is_refused(stream: Stream, method: str) -> None:
    later: list[Any] = []

    queued = threading.Event()

    def wait() -> object:
        queued.wait()
        return getattr(later[0], method)()

    waiting = stream.launch_host_func(wait)
    later.append(stream.launch_host_func(int))
    queued.set()
    stream.synchronize(timeout=900)
    with pytest.raises(ContextError, match="waits for that stream"):
        waiting.result()
    assert later[0].result() == 0


def test_waits_for_others_are_allowed(device: Device, stream: Stream) -> None:
    with Stream(device) as other:
        before = stream.launch_host_func(int)
        event = stream.record()

        def wait() -> int:
            other.synchronize()
            event.synchronize()
            return int(before.result())

        assert stream.launch_host_func(wait).result(timeout=900) == 0
        event.close()


def test_a_function_may_hold_the_last_reference_to_its_stream(device: Device) -> None:
    stream = Stream(device)
    holder = [stream]

    dropped = threading.Event()

    def forget() -> None:
        dropped.wait()
        holder.clear()
        gc.collect()

    done = stream.launch_host_func(forget)
    del stream

    def drop() -> None:
        dropped.set()
        done.result(timeout=900)

    with pytest.warns(ResourceWarning, match="a stream was never closed"):
        drop()
