# SPDX-License-Identifier: Apache-2.0
"""Results of a run so far, the checks that they rule out, and the events of the run."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec.structs import replace

from pyaclnn.health.checks.catalogue import SOAK
from pyaclnn.health.checks.finding import Finding, value
from pyaclnn.health.checks.npu_smi import place_of
from pyaclnn.health.report.record import Status, device_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyaclnn.health.checks.catalogue import Check
    from pyaclnn.health.report.record import CheckResult

__all__ = ["Event", "Finished", "Listener", "Planned", "Progress", "RunState", "Started"]


@dataclass(frozen=True)
class Planned:
    """The run begins with these checks."""

    checks: tuple[Check, ...]


@dataclass(frozen=True)
class Started:
    """A check begins, on a device if it is a check of one device."""

    check: Check
    device: int | None = None


@dataclass(frozen=True)
class Progress:
    """A check in a child process goes on.

    Attributes:
        check: The check.
        device: The device.
        seconds: Time that it has been running.
        deadline: Seconds after which the child is ended.
    """

    check: Check
    device: int | None
    seconds: float
    deadline: float


@dataclass(frozen=True)
class Finished:
    """A check ended, or will not run."""

    result: CheckResult


Event: TypeAlias = "Planned | Started | Progress | Finished"
Listener: TypeAlias = Callable[[Event], None]


_PLACE: Final = "-i ID"
"""The device in the next step of a finding, as the texts write it."""
_QUIET: Final = frozenset({Status.PASS, Status.SKIP, Status.NOT_RUN})


class RunState:
    """Results of a run so far, and the checks that they rule out.

    Args:
        listener: Called with each event, by one thread at a time.
        skipped: Ids of the checks that the user leaves out.
        fail_early: True if no check begins once one has found something broken.
        stop: Set to end everything that is under way.
        environment: The environment, with what numbers devices.

    Attributes:
        results: The results in the order in which they were recorded.
        absent: True if a check found that there is nothing to examine.
        stop: As given.
        environment: As given.
    """

    def __init__(
        self,
        listener: Listener = lambda _: None,
        skipped: frozenset[str] = frozenset(),
        *,
        fail_early: bool = False,
        stop: threading.Event | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.results: list[CheckResult] = []
        self.absent = False
        self.stop = stop or threading.Event()
        self._listener = listener
        self._skipped = skipped
        self._fail_early = fail_early
        self._states: dict[str, Status] = {}
        self._lock = threading.Lock()
        self.environment = environment or {}
        self._place_of = cache(partial(place_of, environment=self.environment))

    def emit(self, event: Event) -> None:
        """Pass an event to the listener."""
        with self._lock:
            self._listener(event)

    def add(self, result: CheckResult) -> None:
        """Record a result and announce it.

        A problem of a device names all numbers of it, and its next step those that npu-smi takes.
        """
        device = device_of(result)
        if device and result.status not in _QUIET:
            place = self._place_of(int(device))
            step = result.next_step and result.next_step.replace(_PLACE, place.options)
            evidence = (*result.evidence, value("device", str(place)))
            result = replace(result, next_step=step, evidence=evidence)
        self.results.append(result)
        self._states[result.id] = result.status
        self.emit(Finished(result))

    def record(
        self, check: Check, finding: Finding, seconds: float = 0.0, device: int | None = None
    ) -> None:
        """Record the finding of a check, which took so many seconds on a device or on none."""
        self.absent |= finding.absent
        self.add(check.result(finding, seconds, device))

    def runnable(self, checks: Iterable[Check], device: int | None = None) -> list[Check]:
        """Return the checks that have no result and can run; record why others will not run.

        A need without a result is no obstacle: it is run before. Nor is a
        need that was skipped or does not apply.

        Args:
            checks: The checks, in order.
            device: The device they are to run on.
        """
        wanted: list[Check] = []
        for check in checks:
            if check.result_id(device) in self._states:
                continue
            lacking = self._lacking(check, device)
            if check.id in self._skipped:
                reason = "needs a time: --soak SECONDS" if check.id == SOAK else "left out as asked"
                self.record(check, Finding(Status.SKIP, reason), device=device)
            elif self._fail_early and any(s.broken for s in list(self._states.values())):
                reason = "not tried, because something is broken: --fail-early"
                self.record(check, Finding(Status.NOT_RUN, reason), device=device)
            elif lacking is not None:
                reason = f"not tried, because {lacking} did not pass"
                self.record(check, Finding(Status.NOT_RUN, reason), device=device)
            else:
                wanted.append(check)
        return wanted

    def _lacking(self, check: Check, device: int | None) -> str | None:
        for need in check.needs:
            status = self._states.get(f"{need}@{device}") or self._states.get(need)
            if status is not None and not (status.passed or status is Status.SKIP):
                return need
        return None
