# SPDX-License-Identifier: Apache-2.0
"""Soak: operators repeated by several threads, with every result and the footprint watched.

Nothing in it grows: it keeps a hash of right results, a count of wrong ones, and a limited number
of footprints.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import AclError
from pyaclnn.health.child.footprint import Footprint, footprint
from pyaclnn.health.smoke import cases as smoke
from pyaclnn.health.smoke.launching import prepare
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyaclnn.health.smoke.cases import Outcome
    from pyaclnn.health.smoke.launching import Case, Prepared
    from pyaclnn.runtime.device import Device

__all__ = ["MOST_WRONG", "Soak"]

MOST_WRONG: Final = 6
"""The number of wrong outputs that each thread keeps."""
_MOST_SAMPLES: Final = 240
_SHORTEST_PAUSE: Final = 0.05
_LONGEST_WAIT: Final = 0.5
"""Seconds until a request to end is noticed."""
_PATIENCE: Final = 60.0
"""Seconds for one operator on a small array."""


class _Lane:
    """Counters of one thread, which alone writes them."""

    def __init__(self) -> None:
        self.launches = 0
        self.moved = 0
        self.wrong = 0
        self.errors = Counter[int]()
        self.first_wrong: list[Outcome] = []
        self.broken: BaseException | None = None


class Soak:
    """Operators repeated on one device by several threads of this process.

    Args:
        device: The device.
        cases: The cases to repeat.
        threads: The number of threads.

    Attributes:
        samples: Footprints of the process, in the order of time.
        seconds: The duration.
        asked: Set, e.g. by a signal handler, to end the soak now.
    """

    def __init__(self, device: Device, cases: Iterable[Case], threads: int) -> None:
        self._device = device
        self._prepared = [prepare(case, device) for case in cases]
        self._lanes = [_Lane() for _ in range(threads)]
        self._stop = threading.Event()
        self.samples: list[Footprint] = []
        self.seconds = 0.0
        self.asked = False

    def run(self, seconds: float, least: int = 0, watch: Callable[[], None] | None = None) -> None:
        """Repeat the operators.

        Args:
            seconds: For how long.
            least: How many launches there are to be, should that take longer.
            watch: Called now and then, and at the end, before the threads have.

        Raises:
            Exception: A thread raised one that is no error of CANN.
        """
        count, threads = len(self._prepared), []
        for number, lane in enumerate(self._lanes):
            # Each thread begins with another case, so that different operators run at a time.
            start = number * count // len(self._lanes)
            order = self._prepared[start:] + self._prepared[:start]
            threads.append(threading.Thread(target=self._work, args=(lane, order)))
        begun = time.monotonic()
        for thread in threads:
            thread.start()
        pause, sampled = max(seconds / _MOST_SAMPLES, _SHORTEST_PAUSE), begun
        while any(map(threading.Thread.is_alive, threads)) and (
            time.monotonic() - begun < seconds or self.launches < least
        ):
            self._stop.wait(min(pause, _LONGEST_WAIT))
            now = time.monotonic()
            if now - sampled >= pause or self.asked or not self.samples:
                sampled = now
                self.samples.append(footprint(self.launches))
                if watch is not None:
                    watch()
            if self.asked:
                break
        self._stop.set()
        for thread in threads:
            thread.join()
        self.seconds = time.monotonic() - begun
        for lane in self._lanes:
            if lane.broken is not None:
                raise lane.broken

    @property
    def launches(self) -> int:
        """The number of launches."""
        return sum(lane.launches for lane in self._lanes)

    @property
    def moved(self) -> int:
        """The number of bytes copied to the device and back."""
        return sum(lane.moved for lane in self._lanes)

    @property
    def wrong(self) -> int:
        """The number of launches with a wrong result."""
        return sum(lane.wrong for lane in self._lanes)

    @property
    def first_wrong(self) -> list[Outcome]:
        """The first wrong outputs of each thread."""
        return [outcome for lane in self._lanes for outcome in lane.first_wrong]

    @property
    def errors(self) -> Counter[int]:
        """The number of failed calls by code."""
        return sum((lane.errors for lane in self._lanes), Counter[int]())

    def _work(self, lane: _Lane, prepared: Sequence[Prepared]) -> None:
        try:
            self._repeat(lane, prepared)
        except BaseException as error:  # noqa: BLE001  # the waiting thread raises it
            lane.broken = error
            self._stop.set()

    def _repeat(self, lane: _Lane, prepared: Sequence[Prepared]) -> None:
        stream: Stream | None = None
        good: dict[int, int] = {}
        for index, one in itertools.cycle(enumerate(prepared)):
            if self._stop.is_set():
                break
            try:
                stream = stream or Stream(self._device)
                self._once(lane, one, stream, good, index)
            except AclError as error:
                lane.errors[error.cause or error.code or 0] += 1
                _give_up(lane, stream)
                stream = None
        _give_up(lane, stream)

    def _once(
        self, lane: _Lane, one: Prepared, stream: Stream, good: dict[int, int], index: int
    ) -> None:
        """Launch one case, and evaluate its outputs unless they equal earlier right ones."""
        launched = one.launch(stream)
        lane.launches += 1
        stream.synchronize(_PATIENCE)
        read = launched.read()
        sent = (*launched.inputs.values(), *launched.outputs.values())
        lane.moved += sum(array.nbytes for array in sent)
        lane.moved += sum(array.nbytes for array in read.values())
        bits = hash(tuple(array.tobytes() for array in read.values()))
        if good.get(index) == bits:
            return
        failed = [o for o in smoke.evaluate_outputs(launched, read) if not o.passed]
        if failed:
            lane.wrong += 1
            lane.first_wrong += failed[: MOST_WRONG - len(lane.first_wrong)]
        else:
            good[index] = bits


def _give_up(lane: _Lane, stream: Stream | None) -> None:
    """Close a stream on which a call failed."""
    try:
        if stream is not None:
            stream.close()
    except AclError as error:
        lane.errors[error.cause or error.code or 0] += 1
