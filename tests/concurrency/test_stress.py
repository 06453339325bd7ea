# SPDX-License-Identifier: Apache-2.0
"""Many threads, few streams, everything at a time: every result is right."""

from __future__ import annotations

import gc
import random
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pyaclnn import mock
from pyaclnn.calling.plan import plan
from pyaclnn.ops import rms_norm
from pyaclnn.runtime.array import DeviceArray, to_device
from pyaclnn.runtime.buffer import Buffer
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable

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

    def run(self, calls: int) -> None:
        steps: list[Callable[[Stream], None]] = [
            self.launch, self.launch, self.launch, self.launch_into, self.repeat, self.wait,
            self.record, self.trim, self.use, self.collect,
        ]  # fmt: skip
        try:
            for _ in range(calls):
                self._chance.choice(steps)(self._chance.choice(self._streams))
            for stream in self._streams:
                self.wait(stream)
        except BaseException as failure:  # noqa: BLE001  # told by the main thread
            self.failures.append(failure)
        finally:
            self._pending.clear()
            for ready in self._plans.values():
                ready.close()

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

    def collect(self, _: Stream) -> None:
        gc.collect(0)


def test_every_result_of_some_threads_is_right(stream: Stream) -> None:
    stress(8, 40, stream)


@pytest.mark.exhaustive
@pytest.mark.parametrize("threads", [8, 16])
def test_every_result_of_many_threads_is_right(
    threads: int, stream: Stream, request: pytest.FixtureRequest
) -> None:
    stress(threads, request.config.getoption("--stress-calls"), stream)


def stress(threads: int, calls: int, stream: Stream) -> None:
    with Stream() as other:
        workers = [Thread(number, [stream, other]) for number in range(threads)]
        running = [threading.Thread(target=worker.run, args=(calls,)) for worker in workers]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        assert [failure for worker in workers for failure in worker.failures] == []
        assert mock.violations() == []
