# SPDX-License-Identifier: Apache-2.0
"""Parallel runs of the same checks in several children, combined into one result each."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from pyaclnn.health.checks.finding import value
from pyaclnn.health.child.events import Finished
from pyaclnn.health.child.group import GroupRun
from pyaclnn.health.child.run_state import RunState
from pyaclnn.health.report.record import CheckResult, Evidence
from pyaclnn.health.report.verdict import gravity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyaclnn.health.checks.check import Check
    from pyaclnn.health.checks.check_context import CheckContext
    from pyaclnn.health.child.events import Event
    from pyaclnn.health.report.record import Figure

__all__ = ["combined", "run_in_parallel"]

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
        processes: How many children run each check.
    """

    def forward(event: Event) -> None:
        if not isinstance(event, Finished):
            state.emit(event)

    listeners = [forward, *[lambda _: None] * (processes - 1)]
    states = [RunState(listener, stop=state.stop) for listener in listeners]
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
