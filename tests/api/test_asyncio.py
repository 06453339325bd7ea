# SPDX-License-Identifier: Apache-2.0
"""Streams and events in asyncio, and functions of the host that a stream calls."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
import pytest

from pyaclnn import mock
from pyaclnn.base.errors import InvalidArgumentError, KernelError
from pyaclnn.cann.gate import call, cleanup
from pyaclnn.ops import rms_norm
from pyaclnn.runtime import host_function
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Awaitable, Callable

    from pyaclnn.runtime.array import DeviceArray
    from pyaclnn.runtime.device import Device

    Run: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]

PATIENCE = 300
ROWS = np.full((2, 8), 3, np.float32)
OURS = ("pyaclnn await", "pyaclnn host functions")
Result = TypeVar("Result")


async def finished(waiting: Awaitable[Result]) -> Result:
    """Wait for something in a coroutine."""
    return await waiting


def no_thread_is_left() -> bool:
    end = time.monotonic() + PATIENCE
    while any(thread.name in OURS for thread in threading.enumerate()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return True


def normed(stream: Stream) -> DeviceArray:
    x = to_device(ROWS, stream.device)
    return rms_norm(x, to_device(np.ones(8, np.float32), stream.device), stream=stream).y


def test_what_a_stream_writes_can_be_read_when_it_was_awaited(stream: Stream) -> None:
    async def main() -> None:
        y = normed(stream)
        await stream
        np.testing.assert_allclose(y.numpy(), 1, rtol=1e-3)
        with stream.record() as event:
            await event
            assert event.is_done()

    asyncio.run(main())
    assert no_thread_is_left()


def test_what_is_closed_while_a_cancelled_wait_ends_is_destroyed_after_that(device: Device) -> None:
    gate = threading.Event()

    async def main() -> None:
        with Stream(device) as stream, Stream(device) as other:
            stream.launch_host_func(gate.wait, PATIENCE)
            with stream.record() as event:
                other.wait(event)
                waits = [asyncio.ensure_future(finished(thing)) for thing in (event, other)]
                await asyncio.sleep(0.05)
                for wait in waits:
                    wait.cancel()
            gate.set()

    asyncio.run(main())
    assert no_thread_is_left()


def test_a_stream_is_destroyed_after_its_thread_has_left_it(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaving = threading.Event()

    def slowly(*what: Any) -> None:
        leaving.set()
        time.sleep(0.1)
        cleanup(*what)

    monkeypatch.setattr(host_function, "cleanup", slowly)
    with Stream(device) as stream:
        assert stream.launch_host_func(int).result(PATIENCE) == 0
        assert leaving.wait(PATIENCE)
    assert no_thread_is_left()


@pytest.mark.parametrize("cancelled", [True, False])
def test_the_loop_goes_on_meanwhile_and_the_wait_can_be_cancelled(
    stream: Stream, *, cancelled: bool
) -> None:
    gate = threading.Event()

    async def main() -> None:
        reached = stream.launch_host_func(gate.wait, PATIENCE)
        with stream.record() as event:
            waits = [asyncio.ensure_future(finished(thing)) for thing in (stream, event)]
            await asyncio.sleep(0.05)
            assert not any(wait.done() for wait in waits)
            if cancelled:
                for wait in waits:
                    wait.cancel()
                    with pytest.raises(asyncio.CancelledError):
                        await wait
            gate.set()
            assert await asyncio.wrap_future(reached)
            await asyncio.gather(*waits, return_exceptions=True)

    asyncio.run(main())
    stream.synchronize()
    assert no_thread_is_left()


def test_more_streams_than_a_pool_has_threads_are_awaited_at_once(device: Device) -> None:
    async def main() -> None:
        streams = [Stream(device) for _ in range(40)]
        gate = threading.Event()
        streams[-1].launch_host_func(gate.wait, PATIENCE)
        with streams[-1].record() as event:
            for stream in streams[:-1]:
                stream.wait(event)
            waits = [asyncio.ensure_future(finished(stream)) for stream in streams]
            await asyncio.get_running_loop().run_in_executor(None, gate.set)
            await asyncio.gather(*waits)
        for stream in streams:
            stream.close()

    asyncio.run(main())
    assert no_thread_is_left()


def test_a_failure_is_raised_where_it_is_awaited(stream: Stream) -> None:
    faults = mock.faults("aclrtSynchronizeStreamWithTimeout:1=507015")
    with faults, pytest.raises(KernelError):
        asyncio.run(finished(stream))
    assert no_thread_is_left()


def test_functions_are_called_in_the_order_of_the_stream(stream: Stream) -> None:
    seen: list[int] = []
    calls = [stream.launch_host_func(seen.append, number) for number in range(5)]
    stream.synchronize()
    assert seen == [0, 1, 2, 3, 4]
    assert [call.result(PATIENCE) for call in calls] == [None] * 5
    assert no_thread_is_left()
    assert stream.launch_host_func(int, "7").result(PATIENCE) == 7  # without a wait for the stream


def test_functions_that_an_abort_drops_fail_and_those_of_other_streams_are_called(
    device: Device, stream: Stream
) -> None:
    gate, seen = threading.Event(), list[int]()
    first = stream.launch_host_func(gate.wait, PATIENCE)
    second = stream.launch_host_func(seen.append, 1)
    with Stream(device) as aborted, mock.faults("aclnnRmsNorm=hang"):
        normed(aborted)
        dropped = aborted.launch_host_func(seen.append, 2)
        call("aclrtStreamAbort", aborted.pointer)
        with pytest.raises(KernelError, match="107023"):
            dropped.result(PATIENCE)
    gate.set()
    assert first.result(PATIENCE)
    assert second.result(PATIENCE) is None
    assert seen == [1]


def test_what_follows_comes_after_the_function_has_returned(stream: Stream) -> None:
    y = normed(stream)
    order: list[str] = []

    def slow() -> None:
        time.sleep(0.1)
        order.append("called")

    stream.launch_host_func(slow)
    y.fill_bytes(0, stream)
    stream.synchronize()
    order.append("passed")
    assert order == ["called", "passed"]
    assert (y.numpy() == 0).all()


def test_an_exception_is_that_of_the_result_and_the_stream_goes_on(stream: Stream) -> None:
    wrong = stream.launch_host_func(divmod, 1, 0)
    right = stream.launch_host_func(divmod, 7, 2)
    with pytest.raises(ZeroDivisionError):
        wrong.result(PATIENCE)
    assert right.result(PATIENCE) == (3, 1)


def test_a_function_that_was_cancelled_is_not_called(stream: Stream) -> None:
    gate, seen = threading.Event(), list[int]()
    first = stream.launch_host_func(gate.wait, PATIENCE)
    second = stream.launch_host_func(seen.append, 1)
    assert second.cancel()
    gate.set()
    assert first.result(PATIENCE)
    stream.synchronize()
    assert not seen


def close(stream: Stream) -> None:
    stream.close()


def leave(stream: Stream) -> None:
    del stream


@pytest.mark.parametrize("end", [close, leave])
def test_the_functions_of_a_stream_that_is_closed_are_called(
    device: Device, end: Callable[[Stream], None]
) -> None:
    seen: list[int] = []
    owned = Stream(device)
    with Stream.borrow(owned, device) as borrowed:
        borrowed.launch_host_func(seen.append, 1)
    owned.launch_host_func(seen.append, 2)
    end(owned)
    owned.close()
    assert seen == [1, 2]
    assert no_thread_is_left()


def test_who_awaits_nothing_does_not_load_asyncio(run_python: Run) -> None:
    done = run_python(
        """
import sys
import pyaclnn
brought = {"asyncio", "concurrent.futures", "logging"}
pyaclnn.Stream, pyaclnn.Event
assert not brought & sys.modules.keys(), brought & sys.modules.keys()
with pyaclnn.Stream() as stream:
    assert stream.launch_host_func(int, "7").result() == 7
assert "concurrent.futures" in sys.modules
""",
        PYTHONHASHSEED="7",  # a new process: the one that others are forked from has loaded them
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_what_cannot_be_called_is_refused(stream: Stream) -> None:
    with pytest.raises(InvalidArgumentError, match="'function' is 7; it must be something to be c"):
        stream.launch_host_func(7)  # type: ignore[arg-type]  # that is the point
