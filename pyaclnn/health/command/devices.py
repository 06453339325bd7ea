# SPDX-License-Identifier: Apache-2.0
"""Checks of devices: in parallel, in turn, from the same moment on, and compared at the end."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Final

from pyaclnn.health.checks.comparison import COMPARISONS, Measured
from pyaclnn.health.checks.figures import COMPARED, IN_TURN, TOGETHER
from pyaclnn.health.child.group import GroupRun
from pyaclnn.health.child.parallel_runs import run_in_parallel
from pyaclnn.health.report.record import device_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyaclnn.health.checks.check import Check
    from pyaclnn.health.checks.check_context import CheckContext
    from pyaclnn.health.child.run_state import RunState
    from pyaclnn.health.report.record import CheckResult

__all__ = ["Devices"]

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
                dir=self._context.machine.environment.get("TMPDIR"),
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
        for group in dict.fromkeys(check.group for check in checks):
            members = [check for check in checks if check.group == group]
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
            figures, context.options.expected, context.facts.soc_name, version, context.simulated
        )
        for number in self._runs:
            for check in self._state.runnable(checks, number):
                finding = COMPARISONS[check.id](number, measured)
                self._state.record(check, finding, device=number)
