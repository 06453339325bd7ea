# SPDX-License-Identifier: Apache-2.0
"""What is settled so far, and what therefore need not or cannot be tried."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from pyaclnn.health.checks.finding import Finding
from pyaclnn.health.checks.numbers import SOAK
from pyaclnn.health.child.events import Finished
from pyaclnn.health.report.record import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyaclnn.health.checks.check import Check
    from pyaclnn.health.child.events import Listener
    from pyaclnn.health.report.record import CheckResult

__all__ = ["Ledger"]


class Ledger:
    """The results of a run, or of one device's part of it.

    Attributes:
        results: The results in the order in which they were settled.
        absent: Whether one of them says that there is nothing to examine.
        tell: Called with every event.
    """

    def __init__(
        self,
        tell: Listener,
        skipped: frozenset[str],
        device: int | None = None,
        before: Mapping[str, Status] | None = None,
        *,
        fail_early: bool = False,
    ) -> None:
        self.results: list[CheckResult] = []
        self.absent = False
        self.tell = tell
        self._skipped = skipped
        self._device = device
        self._states: dict[str, Status] = dict(before or {})
        self._fail_early = fail_early
        self._broken = threading.Event()

    def of_device(self, device: int) -> Ledger:
        """Return a ledger for one device's checks, which knows all that is settled here."""
        ledger = Ledger(self.tell, self._skipped, device, self._states, fail_early=self._fail_early)
        ledger._broken = self._broken  # what one finds broken all of them know
        return ledger

    def settle(self, check: Check, finding: Finding, seconds: float = 0.0) -> None:
        """Note down and tell a result."""
        self.absent |= finding.absent
        result = check.result(finding, seconds, self._device)
        self.take([result])
        self.tell(Finished(result))

    def take(self, results: Iterable[CheckResult]) -> None:
        """Note down results that have been told already."""
        for result in results:
            self.results.append(result)
            self._states[result.id] = result.status
            if result.status.broken:
                self._broken.set()

    def runnable(self, checks: list[Check]) -> list[Check]:
        """Settle those checks that will not run; return the others.

        A check whose needs are among ``checks`` is left to who runs them. What was skipped, or does
        not apply, is no obstacle to what builds on it.
        """
        wanted: list[Check] = []
        refused: set[str] = set()
        for check in checks:
            reason = None
            lacking = self._lacking(check, refused)
            if check.id in self._skipped:
                said = "needs a time: --soak SECONDS" if check.id == SOAK else "left out as asked"
                self.settle(check, Finding(Status.SKIP, said))
                continue
            if self._fail_early and self._broken.is_set():
                reason = "not tried, because something is broken: --fail-early"
            elif lacking is not None:
                reason = f"not tried, because {lacking} did not pass"
            if reason is None:
                wanted.append(check)
            else:
                refused.add(check.id)
                self.settle(check, Finding(Status.NOT_RUN, reason))
        return wanted

    def _lacking(self, check: Check, refused: set[str]) -> str | None:
        for need in check.needs:
            status = self._states.get(f"{need}@{self._device}") or self._states.get(need)
            unusable = status is not None and not (status.passed or status is Status.SKIP)
            if unusable or need in refused:
                return need
        return None
