# SPDX-License-Identifier: Apache-2.0
"""Step that repeats operators on the device, and watches what the process holds."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import signal
import statistics
import threading
import time
from collections import Counter
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import AclError
from pyaclnn.cann.status import meaning
from pyaclnn.health.checks.finding import Finding, found, ok, value
from pyaclnn.health.child.failures import advice_for
from pyaclnn.health.child.steps.numbers import evaluate
from pyaclnn.health.child.steps.sensors import SensorWatch
from pyaclnn.health.report.record import Figure, Number, Status
from pyaclnn.health.smoke import cases as smoke
from pyaclnn.health.smoke.launching import prepare
from pyaclnn.mock.control.injection import faults, injected
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyaclnn.health.child.session import Session
    from pyaclnn.health.report.record import Evidence
    from pyaclnn.health.smoke.launching import Case, Prepared
    from pyaclnn.mock.control.injection import Fault
    from pyaclnn.runtime.device import Device

__all__ = ["Footprint", "Soak", "ended_by_signal", "evaluate_soak", "growth", "leaking"]

_MILLION: Final = 1e6
_SETTLES: Final = 0.25
"""The share of the samples that is ignored, because pools and caches fill."""


@dataclass(frozen=True)
class Footprint:
    """Resources that the process holds at a moment.

    Attributes:
        launches: The number of launches until then.
        resident: Bytes of memory (RSS).
        private: Bytes of it that belong to no other process or file. The memory of a simulated
            device is shared.
        descriptors: The number of open files.
    """

    launches: int
    resident: int
    private: int
    descriptors: int


def footprint(launches: int) -> Footprint:
    """Return the footprint of this process.

    Args:
        launches: The number of launches until now.
    """
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()
    resident, shared = (int(count) * os.sysconf("SC_PAGE_SIZE") for count in pages[1:3])
    # The listing itself is open while it is made.
    files = len(os.listdir("/proc/self/fd")) - 1  # noqa: PTH208  # a name is all that is needed
    return Footprint(launches, resident, resident - shared, files)


def settled(samples: Sequence[Footprint]) -> Sequence[Footprint]:
    """Return the samples without the first ones, while which pools and caches fill."""
    return samples[int(len(samples) * _SETTLES) :]


def growth(samples: Sequence[Footprint]) -> tuple[float, float]:
    """Return the growth of private memory and of open files for each million launches.

    Args:
        samples: Footprints in the order of time.

    Returns:
        The slopes of the straight lines through the samples, by least squares; 0 if there was only
        one number of launches.
    """
    launches = [sample.launches for sample in samples]
    if len(set(launches)) < 2:  # noqa: PLR2004  # no line
        return 0.0, 0.0
    private = statistics.linear_regression(launches, [s.private for s in samples])
    files = statistics.linear_regression(launches, [s.descriptors for s in samples])
    return private.slope * _MILLION, files.slope * _MILLION


MOST_WRONG: Final = 6
"""The number of wrong outputs that each thread keeps."""
_MOST_SAMPLES: Final = 240
_SHORTEST_PAUSE: Final = 0.05
_LONGEST_WAIT: Final = 0.5
"""Seconds until a request to end is noticed."""
_PATIENCE: Final = 60.0
"""Seconds for one operator on a small array."""


@dataclass
class Tally:
    """Counters of a soak; each thread writes its own.

    Attributes:
        launches: The number of launches.
        moved: The number of bytes copied to the device and back.
        wrong: The number of launches with a wrong result.
        first_wrong: The first wrong outputs of each thread.
        errors: The number of failed calls by code.
    """

    launches: int = 0
    moved: int = 0
    wrong: int = 0
    first_wrong: list[Number] = field(default_factory=list)
    errors: Counter[int] = field(default_factory=Counter)

    def __add__(self, other: Tally) -> Tally:
        """Return the counters of both."""
        return Tally(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


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
        self._lanes = [Tally() for _ in range(threads)]
        self._stop = threading.Event()
        self._broken: BaseException | None = None
        self.samples: list[Footprint] = []
        self.seconds = 0.0
        self.asked = False

    def run(self, seconds: float, least: int = 0, watch: Callable[[], None] | None = None) -> None:
        """Repeat the operators.

        Args:
            seconds: For how long.
            least: Minimum number of launches, also if they take longer.
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
        if self._broken is not None:
            raise self._broken

    @property
    def launches(self) -> int:
        """The number of launches until now."""
        return sum(lane.launches for lane in self._lanes)

    @property
    def tally(self) -> Tally:
        """The counters of all threads, which have ended."""
        return sum(self._lanes, Tally())

    def _work(self, lane: Tally, prepared: Sequence[Prepared]) -> None:
        try:
            self._repeat(lane, prepared)
        except BaseException as error:  # noqa: BLE001  # the waiting thread raises it
            self._broken = error
            self._stop.set()

    def _repeat(self, lane: Tally, prepared: Sequence[Prepared]) -> None:
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
        self, lane: Tally, one: Prepared, stream: Stream, good: dict[int, int], index: int
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


def _give_up(lane: Tally, stream: Stream | None) -> None:
    """Close a stream on which a call failed."""
    try:
        if stream is not None:
            stream.close()
    except AclError as error:
        lane.errors[error.cause or error.code or 0] += 1


_CODE: Final = re.compile(r"=(?:after:|async:)?(\d+)$")
_MUCH_MEMORY: Final = 32 << 20
"""Bytes of growth below which no leak is reported."""
_MANY_FILES: Final = 16
_ENOUGH: Final = 20_000
"""Launches below which growth may be that of pools and caches."""


def _soak(session: Session) -> Finding:
    task = session.task
    cases = smoke.cases(session.device, smoke.SHAPES[:1])
    soak, text = Soak(session.device, cases, task.soak_threads), task.soak_faults
    sensors = SensorWatch(session.device_id, os.environ)
    if text and "seed=" not in text:
        text = f"{text}; seed={os.getpid()}"
    try:
        with faults(text) if text else contextlib.nullcontext(), ended_by_signal(soak):
            soak.run(task.soak, watch=None if task.simulated else sensors.look)
            fired = injected()
    except (ValueError, RuntimeError) as error:
        if not text or soak.launches:
            raise
        return found("NUM-302.no_faults", reason=error)
    finding = evaluate_soak(soak, fired)
    early = f"; ended after {soak.seconds:.1f} of {task.soak:g} s" if soak.asked else ""
    return replace(
        finding,
        summary=f"{finding.summary}{early}",
        evidence=finding.evidence + _evidence(soak, fired),
        figures=_figures(soak) + sensors.figures("soak"),
    )


@contextlib.contextmanager
def ended_by_signal(soak: Soak) -> Iterator[None]:
    """Have a soak end at SIGTERM, so that it reports its findings.

    Args:
        soak: The soak.

    Yields:
        Nothing.
    """

    def end(*_: object) -> None:
        soak.asked = True

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def evaluate_soak(soak: Soak, fired: Sequence[Fault]) -> Finding:
    """Build the finding of a soak: only injected faults may show, and no resource may grow.

    Args:
        soak: The soak, which is complete.
        fired: The injected faults, with their effects.
    """
    tally = soak.tally
    codes = {int(match[1]) for fault in fired if (match := _CODE.search(fault.text))}
    spoilt = sum(fault.effects for fault in fired if fault.text.endswith("=wrong"))
    failed = Counter({code: n for code, n in tally.errors.items() if code not in codes})
    if tally.wrong > spoilt:
        finding = evaluate(tally.first_wrong)
        words = f"{tally.wrong} of {soak.launches} launches gave wrong results"
        words += f", and only {spoilt} were made to" if spoilt else ""
        return replace(finding, summary=f"{words}; {finding.summary}")
    if failed:
        [(code, _)], count = failed.most_common(1), failed.total()
        name = meaning(code).name
        words = f"{count} calls failed beside {soak.launches} launches, most with {code} ({name})"
        return Finding(Status.FAIL, words, (), *advice_for(code), code, name)
    if not soak.launches:
        return Finding(Status.ERROR, "nothing was launched: the time was too short")
    words = f"{soak.launches} launches, every result right"
    if fired:
        words += f" but for {tally.wrong} made wrong; {tally.errors.total()} calls made to fail did"
    leak = leaking(soak.samples)
    return ok(words) if leak is None else found("NUM-302.leak", launches=words, leak=leak)


def leaking(samples: Sequence[Footprint]) -> str | None:
    """Return which resource a process holds more and more of, in words; None if none grows.

    Args:
        samples: Footprints in the order of time.
    """
    late = settled(samples)
    memory, files = growth(late)
    done = (late[-1].launches - late[0].launches) / 1e6 if late else 0.0
    if done * 1e6 < _ENOUGH:
        return None
    if memory * done > _MUCH_MEMORY:
        return f"memory grows by {memory / 2**20:.0f} MiB with every million of them"
    if files * done > _MANY_FILES:
        return f"{files:.0f} more files are open after every million of them"
    return None


def _figures(soak: Soak) -> tuple[Figure, ...]:
    memory, files = growth(settled(soak.samples))
    last = soak.samples[-1]
    return (
        Figure("soak_launches", soak.launches, "count", "neither"),
        Figure("soak_launch_rate", soak.launches / soak.seconds, "1/s"),
        Figure("soak_bytes_moved", soak.tally.moved, "bytes", "neither"),
        Figure("soak_resident", last.resident, "bytes", "neither"),
        Figure("soak_private", last.private, "bytes", "neither"),
        Figure("soak_private_growth", memory, "bytes/million", "neither"),
        Figure("soak_descriptors", last.descriptors, "count", "neither"),
        Figure("soak_descriptor_growth", files, "count/million", "neither"),
    )


def _evidence(soak: Soak, fired: Sequence[Fault]) -> tuple[Evidence, ...]:
    errors = ", ".join(
        f"{code} ({meaning(code).name}) {count} times"
        for code, count in soak.tally.errors.most_common()
    )
    return (
        value("errors", errors or "none"),
        *(value(f"injected: {f.text}", f"{f.calls} calls, {f.effects} hit") for f in fired),
    )
