# SPDX-License-Identifier: Apache-2.0
"""The soak: operators repeated by several threads, every result judged, what they hold watched.

It keeps nothing that grows: of results that were right a hash, of the others a number, of what the
process holds so many samples at most.
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
"""How many wrong outputs are kept to be told."""
_MOST_SAMPLES: Final = 240
_SHORTEST_PAUSE: Final = 0.05
_LONGEST_WAIT: Final = 0.5
"""Seconds until it is noticed that the soak is to end."""
_PATIENCE: Final = 60.0
"""Seconds for one operator on a small array."""


class _Lane:
    """What one thread did; nobody else writes here."""

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
        cases: What to repeat.
        threads: How many threads.

    Attributes:
        samples: What the process held, in the order of time.
        seconds: How long it went on.
        asked: Whether it is to end now, whatever was wanted; may be set by a signal's handler.
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
            Exception: A thread ended with one that is no error of CANN.
        """
        count, threads = len(self._prepared), []
        for number, lane in enumerate(self._lanes):
            # Each begins elsewhere, so that different operators meet.
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
        """How often an operator was launched."""
        return sum(lane.launches for lane in self._lanes)

    @property
    def moved(self) -> int:
        """How many bytes were copied to the device and back."""
        return sum(lane.moved for lane in self._lanes)

    @property
    def wrong(self) -> int:
        """How many launches gave a wrong result."""
        return sum(lane.wrong for lane in self._lanes)

    @property
    def first_wrong(self) -> list[Outcome]:
        """The first wrong outputs of each thread."""
        return [outcome for lane in self._lanes for outcome in lane.first_wrong]

    @property
    def errors(self) -> Counter[int]:
        """How often which code of CANN came."""
        return sum((lane.errors for lane in self._lanes), Counter[int]())

    def _work(self, lane: _Lane, prepared: Sequence[Prepared]) -> None:
        try:
            self._repeat(lane, prepared)
        except BaseException as error:  # noqa: BLE001  # told by the thread that waits
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
        """Launch one case, and judge what it gives unless that is what was right before."""
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
        failed = [o for o in smoke.judge_outputs(launched, read) if not o.passed]
        if failed:
            lane.wrong += 1
            lane.first_wrong += failed[: MOST_WRONG - len(lane.first_wrong)]
        else:
            good[index] = bits


def _give_up(lane: _Lane, stream: Stream | None) -> None:
    """Close a stream on which something failed."""
    try:
        if stream is not None:
            stream.close()
    except AclError as error:
        lane.errors[error.cause or error.code or 0] += 1
