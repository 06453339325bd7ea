# SPDX-License-Identifier: Apache-2.0
"""An exception out of a signal handler, wherever it comes, leaves all usable and loses nothing."""

from __future__ import annotations

import gc
import signal
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn import mock
from pyaclnn.calling.plan import plan
from pyaclnn.cann.gate import call
from pyaclnn.ops import rms_norm
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.buffer import Buffer
from pyaclnn.runtime.context import current_context, restore_context
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.device import Device
from pyaclnn.runtime.event import Event
from pyaclnn.runtime.finalizer_queue import FINALIZER_QUEUE
from pyaclnn.runtime.handle import live_handles
from pyaclnn.runtime.idle_budget import IdleBudget
from pyaclnn.runtime.layout import Layout
from pyaclnn.runtime.pinned import pinned_empty
from pyaclnn.runtime.stream import Stream

from .schedule import Interrupted, every_interruption

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Made = tuple[Callable[[], Any], Callable[[], None]]

# A handle that is lost on the way is told by a warning.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

# All places take long; a few of them are tried every time.
at_places = pytest.mark.parametrize("stride", [41, pytest.param(1, marks=pytest.mark.exhaustive)])

FEW = 40
"""Fewer places than any of the work below has."""
ROWS = np.arange(1, 17, dtype=np.float32).reshape(2, 8)
GAMMA = np.ones(8, np.float32)
RSTD = 1 / np.sqrt((ROWS**2).mean(axis=-1, keepdims=True) + 1e-6)


def use_event() -> None:
    with Event() as event:
        event.is_done()


def use_stream() -> None:
    with Stream() as own:
        x = to_device(ROWS)
        rms_norm(x, x[0], stream=own)
        own.synchronize()


def use_workspace() -> None:
    with Stream() as own:
        own.workspace.use(Buffer(4096))
        own.workspace._grow(64)
        own.workspace.use(None)
        own.workspace._grow(100)
        own.workspace.trim()


WORK: dict[str, Callable[[], Any]] = {
    "buffer": lambda: Buffer(4096),
    "array": lambda: to_device(ROWS),
    "pinned": lambda: pinned_empty((2, 8), np.float32),
    "event": use_event,
    "stream": use_stream,
    "workspace": use_workspace,
}


@pytest.mark.sampled(3)
@at_places
@pytest.mark.parametrize("name", WORK)
def test_what_is_made_or_released_is_not_lost(name: str, stride: int, device: Device) -> None:
    assert device.id == 0
    WORK[name]()
    before = live_handles()
    alive = len(mock.alive())

    def make() -> Made:
        def check() -> None:
            gc.collect()
            assert live_handles() == before
            assert len(mock.alive()) == alive

        return WORK[name], check

    assert every_interruption(make, stride=stride) > FEW
    assert mock.violations() == []


def is_open(device_id: int) -> bool:
    return any(one.kind == "device" and one.handle == str(device_id) for one in mock.alive())


@pytest.fixture
def opened_by_the_host(device: Device) -> Iterator[int]:
    """Device 1, opened once by others, who do not make it current on this thread."""
    assert device.id == 0
    spare = 1
    was_open = is_open(spare)  # what other tests have made there may live on
    with device._active():
        call("aclrtSetDevice", spare)
    restore_context(device.pointer)
    yield spare
    call("aclrtResetDevice", spare)
    restore_context(device.pointer)
    assert is_open(spare) == was_open, "opened too often"


@at_places
def test_a_device_is_closed_as_often_as_it_was_opened(stride: int, opened_by_the_host: int) -> None:
    before, current = live_handles(), current_context()

    def use_device() -> None:
        with Device(opened_by_the_host) as again:
            again.memory_info()

    def make() -> Made:
        def check() -> None:
            gc.collect()
            assert live_handles() == before
            assert current_context() == current
            assert is_open(opened_by_the_host), "closed too often"

        return use_device, check

    assert every_interruption(make, stride=stride) > FEW
    assert mock.violations() == []


@at_places
def test_an_interrupted_launch_leaves_the_stream_usable(stride: int, stream: Stream) -> None:
    x, gamma = to_device(ROWS), to_device(GAMMA)
    rms_norm(x, gamma, stream=stream)
    stream.synchronize()
    stream.pool.trim()
    before = live_handles()

    def make() -> Made:
        def work() -> None:
            rms_norm(x, gamma, stream=stream)
            rms_norm(x[:1], gamma, stream=stream)
            with stream.record() as event:
                event.synchronize()

        def check() -> None:
            rstd = rms_norm(x, gamma, stream=stream).rstd
            stream.synchronize()
            np.testing.assert_allclose(rstd.numpy(), RSTD, rtol=1e-4)
            del rstd
            assert not stream._timeline.busy, "a submission is taken to be in progress for ever"
            stream.pool.trim()
            gc.collect()
            assert live_handles() == before

        return work, check

    assert every_interruption(make, stride=stride) > FEW
    assert mock.violations() == []


@at_places
def test_an_interrupted_return_of_what_is_idle_loses_nothing(
    stride: int, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyaclnn.runtime.idle_budget._LEAST", 1024)
    pool, before = stream.pool, live_handles()
    context, byte = stream.device._context, np.dtype(np.uint8)
    layouts = [Layout.dense(context, byte, (512 * count,)) for count in range(1, 5)]

    def make() -> Made:
        pool._budget = IdleBudget()
        for layout in layouts[:3]:
            pool._take(layout, stream.device)

        def work() -> None:
            pool._take(layouts[3], stream.device)

        def check() -> None:
            FINALIZER_QUEUE.settle()
            assert pool._cached() == pool._reserved()
            pool._take(layouts[3], stream.device)
            pool._take(layouts[2], stream.device)
            assert pool._cached() == pool._reserved()
            pool.trim()
            gc.collect()
            assert live_handles() == before

        return work, check

    assert every_interruption(make, stride=stride) > FEW
    assert mock.violations() == []


@at_places
def test_a_block_that_streams_have_shared_is_handed_out_once(stride: int, stream: Stream) -> None:
    gamma = to_device(GAMMA)

    def make() -> Made:
        held = [rms_norm(to_device(ROWS), gamma, stream=stream).rstd]
        layout = held[0]._layout
        stream.synchronize()
        with Stream() as other:
            rms_norm(held[0], held[0][0], stream=other)
            other.synchronize()
        before = live_handles()

        def check() -> None:
            assert live_handles() == before
            taken = [stream.pool._take(layout, stream.device) for _ in range(4)]
            assert len({id(loan.memory) for loan in taken}) == len(taken)
            taken.clear()
            stream.pool.trim()

        return held.clear, check

    every_interruption(make, stride=min(stride, 3))
    assert mock.violations() == []


@at_places
def test_an_interrupted_copy_leaves_the_stream_usable(stride: int, stream: Stream) -> None:
    pinned = pinned_empty((2, 8), np.float32)
    pinned[...] = ROWS
    x = to_device(ROWS)

    def make() -> Made:
        def work() -> None:
            x.copy_from(pinned, stream)

        def check() -> None:
            stream.synchronize()
            assert not stream._timeline.busy
            assert np.array_equal(x.numpy(), ROWS)

        return work, check

    assert every_interruption(make, stride=stride) > FEW
    assert mock.violations() == []


@at_places
def test_an_interrupted_plan_holds_whatever_c_has(stride: int, stream: Stream) -> None:
    gamma = to_device(GAMMA)
    first = to_device(ROWS)
    ready = plan(rms_norm, first, gamma, 1e-6, stream=stream)
    struct: Any = ready._struct

    def make() -> Made:
        def work() -> None:
            ready.run(x=to_device(ROWS))
            ready.run(x=to_device(ROWS), rstd=DeviceArray.empty((2, 1), np.float32))

        def check() -> None:
            known = {a._tensor for a in ready._arguments if isinstance(a, DeviceArray)}
            known |= {a._tensor for a in (ready._coming or {}).values()}
            assert {struct.tensors[i] for i in range(struct.tensor_count)} <= known
            results = ready.run()
            stream.synchronize()
            np.testing.assert_allclose(results.rstd.numpy(), RSTD, rtol=1e-4)

        return work, check

    assert every_interruption(make, stride=stride) > FEW
    assert mock.violations() == []
    ready.close()


def test_a_signal_ends_the_wait_for_a_plan_that_another_thread_runs(stream: Stream) -> None:
    def interrupt(*_: object) -> None:
        raise Interrupted

    x = to_device(ROWS)
    with plan(rms_norm, to_device(ROWS), to_device(GAMMA), 1e-6, stream=stream) as ready:
        taken, given = threading.Event(), threading.Event()

        def hold() -> None:
            with ready._lock:
                taken.set()
                given.wait(300)

        other = threading.Thread(target=hold)
        other.start()
        taken.wait(300)
        before = signal.signal(signal.SIGALRM, interrupt)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        try:
            with pytest.raises(Interrupted):
                ready.run(x=x)
        finally:
            signal.signal(signal.SIGALRM, before)
            given.set()
            other.join(300)
        results = ready.run(x=x)
        stream.synchronize()
        np.testing.assert_allclose(results.rstd.numpy(), RSTD, rtol=1e-4)


class Raising:
    """An object within whose methods a signal handler raises."""

    def _raise(self, *_: object) -> Any:
        raise Interrupted

    __index__ = __hash__ = __iter__ = _raise
    dtype = _device = _layout = property(_raise)


RAISING: Any = Raising()


@pytest.mark.parametrize(
    "code",
    [
        lambda _: DeviceArray.empty((2, 1), RAISING),
        lambda array: array.reshape(RAISING),
        lambda array: array.reshape(RAISING, 2),
        lambda array: array.transpose(RAISING, 0),
        lambda array: rms_norm(array, RAISING),
        lambda array: rms_norm(array, array[0], RAISING),
    ],
)
def test_no_check_of_an_argument_takes_the_exception_for_its_own(
    code: Callable[[Any], Any], device: Device
) -> None:
    array = to_device(ROWS, device)
    with pytest.raises(Interrupted):
        code(array)
