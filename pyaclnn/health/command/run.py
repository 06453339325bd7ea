# SPDX-License-Identifier: Apache-2.0
"""The run: static checks here, device checks in children, devices side by side."""

from __future__ import annotations

import threading
import time
import traceback
from datetime import datetime, timezone
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from pyaclnn.facts.variables import TOLD
from pyaclnn.health.checks.catalogue import find, plan
from pyaclnn.health.checks.check_context import Site
from pyaclnn.health.checks.figures import COMPARED, IN_TURN, TOGETHER
from pyaclnn.health.checks.finding import Finding
from pyaclnn.health.checks.machine import Machine
from pyaclnn.health.checks.nodes import device_nodes
from pyaclnn.health.checks.numbers import SOAK
from pyaclnn.health.checks.visible import read_visible
from pyaclnn.health.child.events import Finished, Planned, Started
from pyaclnn.health.child.group import GroupRun
from pyaclnn.health.child.termination import Interrupted, Terminated
from pyaclnn.health.command.devices import Devices
from pyaclnn.health.command.run_state import Ledger
from pyaclnn.health.report import exits
from pyaclnn.health.report.record import Evidence, Report, Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyaclnn.health.checks.check import Check
    from pyaclnn.health.checks.options import Options
    from pyaclnn.health.child.events import Event, Listener
    from pyaclnn.health.report.record import CheckResult

__all__ = ["exit_status", "run"]

_APART: Final = frozenset({"static", "host", IN_TURN, TOGETHER, COMPARED})
"""Groups that are a stretch of their own; those of the others run on all devices side by side."""


def exit_status(
    results: Iterable[CheckResult], *, absent: bool = False, fail_on_warn: bool = False
) -> int:
    """Work out the exit status of a run.

    Args:
        results: What was found.
        absent: Whether there was nothing to examine: no CANN, or no device.
        fail_on_warn: Whether a warning counts as a failure.
    """
    statuses = {result.status for result in results}
    if absent:
        return exits.NOTHING_HERE
    if any(status.broken for status in statuses):
        return exits.BROKEN
    if fail_on_warn and Status.WARN in statuses:
        return exits.BROKEN
    if Status.ERROR in statuses or not any(status.passed for status in statuses):
        return exits.INCONCLUSIVE
    return exits.PASSED


def run(
    options: Options, on_event: Listener | None = None, machine: Machine | None = None
) -> Report:
    """Examine a machine.

    Args:
        options: What to do.
        on_event: Called with each event, from one thread at a time.
        machine: The machine; this one if None.

    Returns:
        Everything found.

    Raises:
        UnknownCheckError: ``only`` or ``skip`` names a check that does not exist.
        NothingLeftError: ``skip`` leaves nothing of what is wanted.
        Interrupted: The user did, which is a KeyboardInterrupt; every child is ended first, and
            ``report`` has what was found until then.
        Terminated: The process was asked to end; every child is ended first, and ``report`` has
            what was found until then.
    """
    checks, skipped = plan(options.level, options.only, options.skip)
    if options.soak and SOAK not in {check.id for check in checks}:
        checks = (*checks, find(SOAK))
    if not options.soak:
        skipped |= {SOAK}
    return _Run(Site(machine or Machine(), options), checks, skipped, on_event).report()


class _Run:
    def __init__(
        self,
        site: Site,
        checks: tuple[Check, ...],
        skipped: frozenset[str],
        on_event: Listener | None,
    ) -> None:
        self.site = site
        self.checks = checks
        self.stop = threading.Event()
        self.ledger = Ledger(self._tell, skipped, fail_early=site.options.fail_early)
        self._on_event = on_event
        self._lock = threading.Lock()
        self._told: list[CheckResult] = []

    def report(self) -> Report:
        """Run everything and put the report together."""
        started, begun = datetime.now(timezone.utc), time.monotonic()
        self._tell(Planned(self.checks))
        devices = Devices(self.site, self.ledger, self._tell, self.stop)
        try:
            for stage, checks in _stages(self.checks):
                if stage == "host":
                    self._ask_host(checks)
                elif stage == "static":
                    self._look(checks)
                else:
                    devices.run(stage, checks)
        except Terminated as end:
            end.report = self._report(started, begun, end.status)
            raise
        except KeyboardInterrupt:
            raise Interrupted(self._report(started, begun, exits.INTERRUPTED)) from None
        finally:
            self.stop.set()
        return self._report(started, begun)

    def _report(self, started: datetime, begun: float, ended: int | None = None) -> Report:
        """Put together what is settled so far; ``ended`` is the status if that is not all."""
        site, machine = self.site, self.site.machine
        found = site.installation if site.installations else None
        simulated = bool(found) and site.simulated
        # What a child under way has told is in no ledger yet.
        results = tuple(self.ledger.results if ended is None else self._told)
        return Report(
            version=version("pyaclnn"),
            started=started.isoformat(timespec="seconds"),
            seconds=time.monotonic() - begun,
            host=machine.describe(),
            backend="none" if found is None else "mock" if simulated else "cann",
            simulated=simulated,
            directory=machine.shown(found.libraries.directory) if found else None,
            soc_name=site.facts.soc_name,
            cann_version=found.version if found and not simulated else None,
            level=site.options.level.name.lower(),
            environment={
                name: machine.environment[name]
                for name in sorted(TOLD & machine.environment.keys())
            },
            results=results,
            exit_status=ended
            or exit_status(
                results, absent=self.ledger.absent, fail_on_warn=site.options.fail_on_warn
            ),
        )

    def _tell(self, event: Event) -> None:
        if isinstance(event, Finished):
            self._told.append(event.result)
        if self._on_event is not None:
            with self._lock:
                self._on_event(event)

    def _look(self, checks: list[Check]) -> None:
        for check in checks:
            if not self.ledger.runnable([check]):
                continue
            self._tell(Started(check))
            begun = time.monotonic()
            self.ledger.settle(check, self._finding(check), time.monotonic() - begun)

    def _finding(self, check: Check) -> Finding:
        try:
            return check.examine(self.site)
        except Exception as error:  # noqa: BLE001  # one broken check must not end the run
            return Finding(
                Status.ERROR,
                f"the check itself failed: {type(error).__name__}: {error}",
                (Evidence("traceback", type(error).__name__, traceback.format_exc()),),
                ("a mistake in pyaclnn, or a file system that fails",),
                "report it, with the output of --bundle",
            )

    def _ask_host(self, checks: list[Check]) -> None:
        wanted = self.ledger.runnable(checks)
        runner = GroupRun(self.site, None, self._tell, self.stop)
        self.ledger.take(runner.run(wanted, self._expected_devices()))
        soc_name, devices = runner.facts.get("soc_name"), runner.facts.get("devices")
        self.site.facts.soc_name = str(soc_name) if soc_name else None
        self.site.facts.devices = devices if isinstance(devices, int) else None
        self.ledger.absent |= devices == 0

    def _expected_devices(self) -> int | None:
        machine = self.site.machine
        if self.site.options.expected_devices is not None:
            return self.site.options.expected_devices
        if not self.site.examines_hardware:
            return None
        present = len(device_nodes(machine))
        text = machine.environment.get("ASCEND_RT_VISIBLE_DEVICES")
        return present if text is None else len(read_visible(text, present).devices)


def _stages(checks: Iterable[Check]) -> list[tuple[str, list[Check]]]:
    """Divide checks into stretches that run together, in the way that the stretch is named for."""
    stages: list[tuple[str, list[Check]]] = []
    for check in checks:
        group = check.group or "static"
        stage = group if group in _APART else "devices"
        if not stages or stages[-1][0] != stage:
            stages.append((stage, []))
        stages[-1][1].append(check)
    return stages
