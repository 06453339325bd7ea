# SPDX-License-Identifier: Apache-2.0
"""Run of the doctor: static checks in this process, checks that load CANN in children."""

from __future__ import annotations

import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from importlib.metadata import version
from itertools import groupby
from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import text_of
from pyaclnn.base.locks import cached_property
from pyaclnn.facts.variables import REPORTED
from pyaclnn.health.checks.catalogue import COMPARED, IN_TURN, SOAK, THE_END, TOGETHER, find, plan
from pyaclnn.health.checks.comparison import Measured
from pyaclnn.health.checks.context import CheckContext
from pyaclnn.health.checks.driver import device_nodes, is_virtual, read_visible
from pyaclnn.health.checks.finding import Finding, skip
from pyaclnn.health.checks.machine import Machine
from pyaclnn.health.child.group import GroupRun, run_in_parallel
from pyaclnn.health.child.processes import Interrupted, Terminated
from pyaclnn.health.child.run_state import Planned, RunState, Started
from pyaclnn.health.report.record import Evidence, Exit, Report, Status, check_of, device_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyaclnn.health.checks.catalogue import Check
    from pyaclnn.health.checks.context import Options
    from pyaclnn.health.child.run_state import Listener
    from pyaclnn.health.report.record import CheckResult

__all__ = ["exit_status", "run"]

_MOST_AT_ONCE: Final = 16


class Devices:
    """The devices of a run.

    Args:
        context: The machine under examination.
        state: The state of the run, which gets the results.
    """

    def __init__(self, context: CheckContext, state: RunState) -> None:
        self._context = context
        self._state = state

    def run(self, stage: str, checks: list[Check]) -> None:
        """Run checks on every device.

        Args:
            stage: `IN_TURN`, `TOGETHER` or `COMPARED`; any other runs devices in parallel.
            checks: The checks.
        """
        usable = tuple(filter(self._is_usable, self._runs))
        for run in self._runs.values():
            run.peers = usable
        if stage == COMPARED:
            self._compare(checks)
        elif stage == TOGETHER:
            with tempfile.TemporaryDirectory(
                prefix="pyaclnn-doctor-",
                dir=self._context.machine.temporary,
                ignore_cleanup_errors=True,
            ) as meeting:
                for run in self._runs.values():
                    run.meeting = meeting
                self._run_all(checks, _MOST_AT_ONCE)
        else:
            self._run_all(checks, 1 if stage == IN_TURN else _MOST_AT_ONCE)

    @cached_property
    def _runs(self) -> Mapping[int, GroupRun]:
        """A run for each device; how many there are is known once CANN has counted them."""
        chosen, count = self._context.options.devices, self._context.facts.devices or 1
        numbers = range(count) if chosen is None else chosen
        return {number: GroupRun(self._context, self._state, number) for number in numbers}

    def _results(self, number: int) -> list[CheckResult]:
        return [result for result in self._state.results if device_of(result) == str(number)]

    def _is_usable(self, number: int) -> bool:
        """Return whether others may copy to a device: no check of basic functions failed."""
        broken = (r for r in self._results(number) if r.status.broken and r.category == "device")
        return self._runs[number].over is None and next(broken, None) is None

    def _run_all(self, checks: list[Check], at_once: int) -> None:
        with ThreadPoolExecutor(min(len(self._runs), at_once) or 1) as pool:
            futures = [pool.submit(self._run_device, number, checks) for number in self._runs]
            try:
                for future in futures:
                    future.result()
            except BaseException:
                # The other threads end their children and return; the pool waits for them.
                self._state.stop.set()
                raise

    def _run_device(self, number: int, checks: list[Check]) -> None:
        run, processes = self._runs[number], self._context.options.soak_processes
        # A simulated device whose numbers another one checks needs no second child for the rest.
        others = self._context.simulated and number != min(run.peers, default=number)
        groups = {c.id: "device" if others and c.group == "numbers" else c.group for c in checks}
        for group in dict.fromkeys(groups.values()):
            members = [check for check in checks if groups[check.id] == group]
            members.sort(key=lambda check: check.id == THE_END)
            if group == "soak" and processes > 1 and run.over is None:
                members = self._state.runnable(members, number)
                run_in_parallel(self._context, self._state, number, members, processes)
            else:
                run.run(members)

    def _compare(self, checks: list[Check]) -> None:
        context = self._context
        figures = {
            number: {f.name: f for result in self._results(number) for f in result.figures}
            for number in self._runs
        }
        version = None if context.simulated else context.installation.version
        measured = Measured(
            figures,
            context.options.expected,
            context.facts.soc_name,
            version,
            context.simulated,
            whole=not any(is_virtual(node) for node in device_nodes(context.machine)),
        )
        for number in self._runs:
            for check in self._state.runnable(checks, number):
                finding = check.function(number, measured)
                self._state.record(check, finding, device=number)


_APART: Final = frozenset({"static", "host", IN_TURN, TOGETHER, COMPARED})
"""Groups that are a stage of their own; the others run on all devices in parallel."""


def exit_status(
    results: Iterable[CheckResult], *, absent: bool = False, fail_on_warn: bool = False
) -> int:
    """Return the exit status of a run.

    Args:
        results: The results.
        absent: True if there was nothing to examine: no CANN, or no device.
        fail_on_warn: True if a warning counts as a failure.
    """
    statuses = {result.status for result in results}
    if absent:
        return Exit.NOTHING_HERE
    if any(status.broken for status in statuses) or (fail_on_warn and Status.WARN in statuses):
        return Exit.BROKEN
    if Status.ERROR in statuses or not any(status.passed for status in statuses):
        return Exit.INCONCLUSIVE
    return Exit.PASSED


def run(
    options: Options, on_event: Listener = lambda _: None, machine: Machine | None = None
) -> Report:
    """Examine a machine.

    Args:
        options: The options of the run.
        on_event: Called with each event, by one thread at a time.
        machine: The machine; this one if None.

    Returns:
        The report.

    Raises:
        UnknownCheckError: ``only`` or ``skip`` names a check that does not exist.
        NothingLeftError: ``skip`` leaves nothing of what is wanted.
        Interrupted: The user did, which is a KeyboardInterrupt; every child is ended first, and
            ``report`` has the results until then.
        Terminated: A signal asked the process to end; every child is ended first, and ``report``
            has the results until then.
    """
    checks, skipped = plan(options.level, options.only, options.skip)
    if options.soak and SOAK not in {check.id for check in checks}:
        checks = (*checks, find(SOAK))
    if not options.soak:
        skipped |= {SOAK}
    machine = machine or Machine()
    state = RunState(
        on_event, skipped, fail_early=options.fail_early, environment=machine.environment
    )
    return _Run(CheckContext(machine, options), checks, state).report()


class _Run:
    def __init__(self, context: CheckContext, checks: tuple[Check, ...], state: RunState) -> None:
        self._context = context
        self._checks = checks
        self._stages = [(stage, list(own)) for stage, own in groupby(checks, _stage)]
        self._state = state
        self._started, self._begun = datetime.now(timezone.utc), time.monotonic()

    def report(self) -> Report:
        """Run everything and return the report."""
        self._state.emit(Planned(self._checks))
        devices = Devices(self._context, self._state)
        try:
            for stage, checks in self._stages:
                if stage == "host":
                    self._run_host(checks)
                elif stage == "static":
                    self._run_static(checks)
                else:
                    devices.run(stage, checks)
        except Terminated as end:
            end.report = self._report(end.status)
            raise
        except KeyboardInterrupt:
            raise Interrupted(self._report(Exit.INTERRUPTED)) from None
        finally:
            self._state.stop.set()
        return self._report()

    def _report(self, ended: int | None = None) -> Report:
        """Return the report so far; ``ended`` is the exit status if the run is not complete."""
        context, machine, state = self._context, self._context.machine, self._state
        found = context.installation if context.installations else None
        simulated = bool(found) and context.simulated
        results = self._ordered(state.results)
        fail_on_warn = context.options.fail_on_warn
        status = exit_status(results, absent=state.absent, fail_on_warn=fail_on_warn)
        return Report(
            version=version("pyaclnn"),
            started=self._started.isoformat(timespec="seconds"),
            seconds=time.monotonic() - self._begun,
            host=machine.describe(),
            backend="none" if found is None else "mock" if simulated else "cann",
            simulated=simulated,
            directory=machine.shown(found.libraries.directory) if found else None,
            soc_name=context.facts.soc_name,
            cann_version=found.version if found and not simulated else None,
            level=context.options.level.name.lower(),  # type: ignore[arg-type]  # one of these
            environment={
                name: machine.environment[name]
                for name in sorted(REPORTED & machine.environment.keys())
            },
            results=results,
            exit_status=ended or status,  # type: ignore[arg-type]  # likewise
        )

    def _ordered(self, results: Iterable[CheckResult]) -> tuple[CheckResult, ...]:
        """Order results by stage, device and check; threads and crashes record them otherwise."""
        order = {
            check.id: (number, index)
            for number, (_, checks) in enumerate(self._stages)
            for index, check in enumerate(checks)
        }

        def key(result: CheckResult) -> tuple[int, int, int]:
            stage, index = order[check_of(result)]
            return stage, int(device_of(result) or -1), index

        return tuple(sorted(results, key=key))

    def _run_static(self, checks: list[Check]) -> None:
        for check in checks:
            if self._state.runnable([check]):
                self._state.emit(Started(check))
                begun = time.monotonic()
                finding = self._finding(check)
                self._state.record(check, finding, time.monotonic() - begun)

    def _finding(self, check: Check) -> Finding:
        try:
            if check.hardware and self._context.simulated:
                return skip("the simulated NPU has no need of it")
            return check.function(self._context)
        except Exception as error:  # noqa: BLE001  # one broken check must not end the run
            return Finding(
                Status.ERROR,
                f"the check itself failed: {type(error).__name__}: {text_of(error)}",
                (Evidence("traceback", type(error).__name__, traceback.format_exc()),),
                ("a mistake in pyaclnn, or a file system that fails",),
                "report it, with the output of --bundle",
            )

    def _run_host(self, checks: list[Check]) -> None:
        group, facts = GroupRun(self._context, self._state, None), self._context.facts
        group.run(checks, self._expected_devices())
        soc_name, devices = group.facts.get("soc_name"), group.facts.get("devices")
        facts.soc_name = str(soc_name) if soc_name else None
        facts.devices = devices if isinstance(devices, int) else None
        self._state.absent |= devices == 0

    def _expected_devices(self) -> int | None:
        machine = self._context.machine
        if self._context.options.expected_devices is not None:
            return self._context.options.expected_devices
        if self._context.simulated:
            return None
        present = len(device_nodes(machine))
        text = machine.environment.get("ASCEND_RT_VISIBLE_DEVICES")
        return present if text is None else len(read_visible(text, present).devices)


def _stage(check: Check) -> str:
    group = check.group or "static"
    return group if group in _APART else "devices"
