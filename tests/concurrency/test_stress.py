# SPDX-License-Identifier: Apache-2.0
"""Many threads, few streams, everything at a time: every result is right."""

from __future__ import annotations

import contextlib
import gc
import random
import signal
import sys
import threading
import traceback
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pyaclnn import mock
from pyaclnn.calling.plan import plan
from pyaclnn.ops import rms_norm
from pyaclnn.runtime.array import DeviceArray
from pyaclnn.runtime.buffer import Buffer
from pyaclnn.runtime.creation import to_device
from pyaclnn.runtime.handle import live_handles
from pyaclnn.runtime.pinned import pinned_empty
from pyaclnn.runtime.stream import Stream

from .schedule import Interrupted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# A handle that an interruption loses is told by a warning.
pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

ROWS = np.arange(1, 17, dtype=np.float32).reshape(2, 8)
GAMMA = np.ones(8, np.float32)


class Thread:
    """One thread's calls, drawn at random, with what each must give."""

    def __init__(self, number: int, streams: list[Stream]) -> None:
        self._chance = random.Random(number)
        self._streams = streams
        self._gamma = to_device(GAMMA)
        self._pending: list[tuple[Stream, float, DeviceArray]] = []
        self._plans = {
            id(s): plan(rms_norm, to_device(ROWS), self._gamma, 1e-6, stream=s) for s in streams
        }
        self.failures: list[BaseException] = []
        self.may_be_interrupted = False
        self.interruptions = 0

    def run(self, calls: int) -> None:
        steps: list[Callable[[Stream], None]] = [
            self.launch, self.launch, self.launch, self.launch_into, self.repeat, self.copy,
            self.wait, self.record, self.trim, self.use, self.close, self.drop, self.collect,
            self.take,
        ]  # fmt: skip
        try:
            for _ in range(calls):
                step, stream = self._chance.choice(steps), self._chance.choice(self._streams)
                try:
                    self.may_be_interrupted = True
                    step(stream)
                    self.may_be_interrupted = False
                except Interrupted:
                    self.interruptions += 1
            for stream in self._streams:
                self.wait(stream)
        except BaseException as failure:  # noqa: BLE001  # told by the main thread
            self.failures.append(failure)
        finally:
            self._pending.clear()
            for ready in self._plans.values():
                ready.close()
            self._plans.clear()

    def launch(self, stream: Stream) -> None:
        factor = self._chance.randint(1, 9)
        x = to_device(ROWS * factor)
        self._pending.append((stream, factor, rms_norm(x, self._gamma, stream=stream).rstd))

    def launch_into(self, stream: Stream) -> None:
        factor = self._chance.randint(1, 9)
        rstd = DeviceArray.empty((2, 1), np.float32)
        rms_norm(to_device(ROWS * factor), self._gamma, stream=stream, out=(None, rstd))
        self._pending.append((stream, factor, rstd))

    def repeat(self, stream: Stream) -> None:
        factor = self._chance.randint(1, 9)
        rstd = DeviceArray.empty((2, 1), np.float32)
        self._plans[id(stream)].run(x=to_device(ROWS * factor), rstd=rstd)
        self._pending.append((stream, factor, rstd))

    def wait(self, stream: Stream) -> None:
        stream.synchronize()
        for owner, factor, rstd in self._pending:
            if owner is stream:
                wanted = 1 / np.sqrt(((ROWS * factor) ** 2).mean(axis=-1, keepdims=True) + 1e-6)
                np.testing.assert_allclose(rstd.numpy(), wanted, rtol=1e-4)
        self._pending = [entry for entry in self._pending if entry[0] is not stream]

    def record(self, stream: Stream) -> None:
        with stream.record() as event:
            event.synchronize()

    def trim(self, stream: Stream) -> None:
        stream.pool.trim()
        stream.workspace.trim()

    def use(self, stream: Stream) -> None:
        stream.workspace.use(Buffer(32 << 20))
        stream.workspace.use(None)

    def copy(self, stream: Stream) -> None:
        factor = self._chance.randint(1, 9)
        pinned = pinned_empty((2, 8), np.float32)
        pinned[...] = ROWS * factor
        x = DeviceArray.empty((2, 8), np.float32)
        x.copy_from(pinned, stream)
        self._pending.append((stream, factor, rms_norm(x, self._gamma, stream=stream).rstd))

    def close(self, stream: Stream) -> None:
        x = to_device(ROWS)
        rms_norm(x, self._gamma, stream=stream).rstd.close()
        x.close()
        with Stream() as short:
            rms_norm(self._gamma, self._gamma, stream=short)

    def drop(self, stream: Stream) -> None:
        cycle: list[Any] = [to_device(ROWS)]
        cycle += [cycle, rms_norm(cycle[0], self._gamma, stream=stream)]

    def take(self, stream: Stream) -> None:
        x = DeviceArray.empty((2, self._chance.randint(1, 2000)), np.float32)
        rms_norm(x, x[0], stream=stream)

    def collect(self, _: Stream) -> None:
        gc.collect(0)


@pytest.fixture(autouse=True)
def _pools_that_give_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyaclnn.runtime.idle_budget._LEAST", 4096)


def test_every_result_of_some_threads_is_right(stream: Stream) -> None:
    stress(4, 40, stream)


@pytest.mark.exhaustive
@pytest.mark.parametrize("threads", [8, 16])
def test_every_result_of_many_threads_is_right(
    threads: int, stream: Stream, request: pytest.FixtureRequest
) -> None:
    stress(threads, request.config.getoption("--stress-calls"), stream)


def stress(threads: int, calls: int, stream: Stream) -> None:
    with Stream() as other:
        Thread(0, [stream, other]).run(1)
        before = left_on(stream, other)
        here, *workers = [Thread(number, [stream, other]) for number in range(threads)]
        running = [threading.Thread(target=worker.run, args=(calls,)) for worker in workers]
        with collections_everywhere():
            for thread in running:
                thread.start()
            with signals(here):
                here.run(calls)
            for thread in running:
                thread.join()
        failures = [
            "".join(traceback.format_exception(failure))
            for worker in [here, *workers]
            for failure in worker.failures
        ]
        # The messages are for a Python without pytest's rewriting.
        assert failures == [], "\n".join(failures)
        assert here.interruptions > calls // 20, here.interruptions
        del here, workers, running, thread, failures
        assert left_on(stream, other) == before, mock.alive()
        assert mock.violations() == []


def left_on(*streams: Stream) -> Counter[str]:
    """Count what is alive when nothing is kept for later."""
    gc.collect()
    for stream in streams:
        stream.synchronize()
        stream.pool.trim()
        stream.workspace.trim()
    left = Counter(live_handles())
    # Events that say how far a stream has come.
    left["event"] -= sum(len(stream._timeline._internal_events) for stream in streams)
    return left


@contextlib.contextmanager
def collections_everywhere() -> Iterator[None]:
    """Let garbage collections come at every allocation, and look at what is new."""
    threshold = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(1, 50, 50)
    yield
    gc.set_threshold(*threshold)
    gc.unfreeze()


@contextlib.contextmanager
def signals(thread: Thread) -> Iterator[None]:
    """Have signal handlers raise in what the main thread does."""

    def interrupt(*_: object) -> None:
        if thread.may_be_interrupted:
            thread.may_be_interrupted = False
            raise Interrupted

    handler = signal.signal(signal.SIGALRM, interrupt)
    # The exception of a finalizer arrives here.
    told, sys.unraisablehook = sys.unraisablehook, lambda _: None
    signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = told
        signal.signal(signal.SIGALRM, handler)
