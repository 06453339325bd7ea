# SPDX-License-Identifier: Apache-2.0
"""Run of a group of checks in child processes: a new one after a crash, none after a timeout."""

from __future__ import annotations

import dataclasses
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from pyaclnn.health.checks.catalogue import SOAK, THE_END, find
from pyaclnn.health.checks.context import Extent
from pyaclnn.health.checks.finding import Finding, found, value
from pyaclnn.health.child.failures import at_end, cut_short, with_left
from pyaclnn.health.child.isolation import run_child
from pyaclnn.health.child.journal import ChildTask
from pyaclnn.health.child.run_state import Finished, Progress, RunState, Started
from pyaclnn.health.report.codec import read
from pyaclnn.health.report.record import CheckResult, Evidence, Status
from pyaclnn.health.report.verdict import gravity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyaclnn.health.checks.catalogue import Check
    from pyaclnn.health.checks.context import CheckContext
    from pyaclnn.health.child.isolation import ChildOutcome
    from pyaclnn.health.child.run_state import Event
    from pyaclnn.health.report.record import Figure

__all__ = ["GroupRun", "combined", "run_in_parallel"]

_UNTOUCHABLE: Final = "the device did not answer in time and is not touched again"
_NO_CHILD: Final = "no child process can be started"
_EXTRA_FOR_SOAK: Final = 60.0


class GroupRun:
    """Run of groups of checks, one group after the other, on one device.

    Args:
        context: The machine under examination.
        state: The state of the run, which gets the results.
        device: The device; None for checks that open none.

    Attributes:
        over: Why nothing more is tried, e.g. because a step has timed out; None at first.
        facts: Results of the children for other checks.
        peers: The devices under examination that can be used.
        meeting: A folder where children of several devices wait for each other, if they do.
    """

    def __init__(self, context: CheckContext, state: RunState, device: int | None) -> None:
        self.over: str | None = None
        self.facts: dict[str, object] = {}
        self.peers: tuple[int, ...] = ()
        self.meeting = ""
        self._context, self._state, self._device = context, state, device
        self._running = ""
        self._held: CheckResult | None = None

    def run(self, checks: list[Check], expected: int | None = None) -> None:
        """Run checks, in as many children as it takes, and record a result for each.

        Args:
            checks: The checks, in order.
            expected: Number of devices that should be visible, for the check that counts them.
        """
        pending = self._state.runnable(checks, self._device)
        while pending and self.over is None and not self._state.stop.is_set():
            self._run_child(pending, expected)
            pending = self._state.runnable(pending, self._device)
        for check in pending:
            reason = self.over or "the run was interrupted"
            self._record(check, Finding(Status.NOT_RUN, f"not tried: {reason}"))

    def _run_child(self, pending: list[Check], expected: int | None) -> None:
        options, machine = self._context.options, self._context.machine
        mock = self._context.choice == "mock"
        task = ChildTask(
            backend="mock" if mock else str(self._context.installation.root),
            device=self._device,
            steps=tuple(check.id for check in pending),
            deadlines={check.id: self._deadline(check) for check in pending},
            simulated=self._context.simulated,
            peers=self.peers,
            meeting=self.meeting,
            expected_devices=expected,
            **{field.name: getattr(options, field.name) for field in dataclasses.fields(Extent)},
        )
        last = pending[-1].result_id(self._device)

        def on_result(data: dict[str, Any]) -> None:
            result = read(CheckResult, data)
            if result.id == last:  # may have left processes behind, which its end shows
                self._held = result
            else:
                self._state.add(result)

        temporary = machine.temporary
        try:
            with tempfile.TemporaryDirectory(
                prefix="pyaclnn-doctor-", dir=temporary, ignore_cleanup_errors=True
            ) as scratch:
                outcome = run_child(
                    task,
                    machine.environment,
                    Path(scratch),
                    module="pyaclnn.health.child.probe",
                    grace=options.grace,
                    stop=self._state.stop,
                    on_step=self._on_step,
                    on_result=on_result,
                )
        except OSError as error:
            self.over = _NO_CHILD
            seen = Evidence("path", str(error.filename or temporary or "TMPDIR"), str(error))
            finding = found("DEV-111.no_child", seen, reason=error.strerror or error)
            self._record(pending[0], finding)
            return
        self.facts.update(outcome.facts)
        if self._held is not None:
            self._state.add(with_left(self._held, outcome))
            self._held = None
        self._conclude(pending, outcome)

    def _deadline(self, check: Check) -> float:
        options = self._context.options
        if check.id == SOAK:
            return options.soak + _EXTRA_FOR_SOAK
        limit = options.deadline
        return check.seconds if limit is None else min(check.seconds, limit)

    def _on_step(self, running: str, seconds: float, deadline: float) -> None:
        check = find(running)
        if running != self._running:
            self._running = running
            self._state.emit(Started(check, self._device))
        else:
            self._state.emit(Progress(check, self._device, seconds, deadline))

    def _record(self, check: Check, finding: Finding, seconds: float = 0.0) -> None:
        self._state.record(check, finding, seconds, self._device)

    def _conclude(self, pending: list[Check], outcome: ChildOutcome) -> None:
        """Record what the end of a child means for the step that was under way."""
        if outcome.ended == "done":
            if outcome.running == THE_END:
                self._record(find(THE_END), at_end(outcome), outcome.seconds)
            return
        if outcome.ended in {"timeout", "flood", "abandoned"}:
            self.over = _UNTOUCHABLE
        elif outcome.ended == "unborn":
            self.over = _NO_CHILD
        done = {result["id"] for result in outcome.results}
        left = [check for check in pending if check.result_id(self._device) not in done]
        if left and not self._state.stop.is_set():
            check = find(outcome.running) if outcome.running else left[0]
            finding = cut_short(check, outcome, self._context)
            self._record(check, finding, outcome.seconds)


_COUNTED: Final = frozenset({"count", "bytes", "1/s"})


def run_in_parallel(
    context: CheckContext, state: RunState, device: int, checks: list[Check], processes: int
) -> None:
    """Run each check in several children at a time, and record one result of them.

    Args:
        context: The machine under examination.
        state: The state of the run; its listener gets the progress of the first child.
        device: The device, which all children open.
        checks: The checks.
        processes: Number of children that run each check.
    """

    def forward(event: Event) -> None:
        if not isinstance(event, Finished):
            state.emit(event)

    listeners = [forward, *[lambda _: None] * (processes - 1)]
    states = [
        RunState(listener, stop=state.stop, environment=state.environment) for listener in listeners
    ]
    with ThreadPoolExecutor(processes) as pool:
        list(pool.map(lambda own: GroupRun(context, own, device).run(checks), states))
    for same in zip(*(own.results for own in states), strict=True):
        state.add(combined(same))


def combined(results: Sequence[CheckResult]) -> CheckResult:
    """Combine the results of one check in several children.

    Args:
        results: The results.

    Returns:
        The gravest of them, with the evidence of all. Figures that count are added; of the others
        the largest remains.
    """
    worst = min(results, key=lambda result: gravity(result.status))
    evidence = tuple(
        Evidence(item.kind, f"process {number}: {item.label}", item.text)
        for number, result in enumerate(results, 1)
        for item in (value("it says", result.summary), *result.evidence)
    )
    return replace(
        worst,
        summary=f"one of {len(results)} processes: {worst.summary}",
        seconds=max(result.seconds for result in results),
        evidence=evidence,
        figures=_combined(figure for result in results for figure in result.figures),
    )


def _combined(figures: Iterable[Figure]) -> tuple[Figure, ...]:
    by_name: dict[str, Figure] = {}
    for figure in figures:
        before = by_name.get(figure.name)
        if before is not None:
            both = before.value, figure.value
            total = sum(both) if figure.unit in _COUNTED else max(both)
            by_name[figure.name] = replace(before, value=total)
        else:
            by_name[figure.name] = figure
    return tuple(by_name.values())
