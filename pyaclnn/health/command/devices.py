# SPDX-License-Identifier: Apache-2.0
"""The checks of devices: side by side, in turn, at the same moment, and compared in the end."""

from __future__ import annotations

import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from pyaclnn.health.checks.comparison import COMPARISONS, Measured
from pyaclnn.health.checks.figures import COMPARED, IN_TURN, TOGETHER
from pyaclnn.health.child.group import GroupRun
from pyaclnn.health.child.parallel_runs import run_crowd

if TYPE_CHECKING:
    import threading
    from collections.abc import Sequence

    from pyaclnn.health.checks.check import Check
    from pyaclnn.health.checks.check_context import Site
    from pyaclnn.health.child.events import Listener
    from pyaclnn.health.command.run_state import Ledger

__all__ = ["Devices"]

_MOST_AT_ONCE: Final = 16


class _Device:
    """What is known of one device while it is examined."""

    def __init__(
        self, number: int, ledger: Ledger, site: Site, tell: Listener, stop: threading.Event
    ) -> None:
        self.number = number
        self.ledger = ledger
        self.runner = GroupRun(site, number, tell, stop)
        self.taken = 0

    @property
    def is_usable(self) -> bool:
        """Whether others may copy to it: nothing of what any program needs was found broken."""
        broken = (r for r in self.ledger.results if r.status.broken and r.category == "device")
        return self.runner.over is None and next(broken, None) is None


class Devices:
    """The devices of a run.

    Args:
        site: What is examined.
        ledger: What is settled; gets the results of every device.
        tell: Told of everything.
        stop: Ends what is under way when it is set.
    """

    def __init__(self, site: Site, ledger: Ledger, tell: Listener, stop: threading.Event) -> None:
        self._site = site
        self._ledger = ledger
        self._tell = tell
        self._stop = stop
        self._devices: list[_Device] = []

    def run(self, stage: str, checks: list[Check]) -> None:
        """Run checks on every device.

        Args:
            stage: `IN_TURN`, `TOGETHER` or `COMPARED`; anything else is side by side.
            checks: The checks.
        """
        devices = self._all()
        usable = tuple(one.number for one in devices if one.is_usable)
        for one in devices:
            one.runner.peers = usable
        try:
            if stage == COMPARED:
                self._compare(checks)
            elif stage == TOGETHER:
                self._meet(checks)
            else:
                self._each(checks, 1 if stage == IN_TURN else _MOST_AT_ONCE)
        finally:
            for one in devices:
                fresh, one.taken = one.ledger.results[one.taken :], len(one.ledger.results)
                self._ledger.take(fresh)

    def _all(self) -> Sequence[_Device]:
        if not self._devices:
            chosen, found = self._site.options.devices, self._site.facts.devices or 1
            self._devices = [
                _Device(number, self._ledger.of_device(number), self._site, self._tell, self._stop)
                for number in (range(found) if chosen is None else chosen)
            ]
        return self._devices

    def _each(self, checks: list[Check], at_once: int) -> None:
        devices = self._all()
        with ThreadPoolExecutor(min(len(devices), at_once) or 1) as pool:
            futures = [pool.submit(self._use, one, checks) for one in devices]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                # Those still at it end their children and return; the pool waits for them.
                self._stop.set()
                raise

    def _use(self, one: _Device, checks: list[Check]) -> None:
        for group in dict.fromkeys(check.group for check in checks):
            members = one.ledger.runnable([check for check in checks if check.group == group])
            processes = self._site.options.soak_processes if group == "soak" else 1
            if members and processes > 1 and one.runner.over is None:
                one.ledger.take(
                    run_crowd(self._site, one.number, self._tell, self._stop, members, processes)
                )
            else:
                one.ledger.take(one.runner.run(members))

    def _meet(self, checks: list[Check]) -> None:
        place = tempfile.mkdtemp(
            prefix="pyaclnn-doctor-", dir=self._site.machine.environment.get("TMPDIR")
        )
        for one in self._all():
            one.runner.meeting = place
        try:
            self._each(checks, _MOST_AT_ONCE)
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def _compare(self, checks: list[Check]) -> None:
        site = self._site
        measured = Measured(
            {
                one.number: {f.name: f for result in one.ledger.results for f in result.figures}
                for one in self._all()
            },
            site.options.expected,
            site.facts.soc_name,
            None if site.simulated else site.installation.version,
            site.simulated,
        )
        for one in self._all():
            for check in one.ledger.runnable(checks):
                one.ledger.settle(check, COMPARISONS[check.id](one.number, measured))
