# SPDX-License-Identifier: Apache-2.0
"""The same checks of one device in several children at a time, told as one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from pyaclnn.health.child.events import Finished
from pyaclnn.health.child.group import GroupRun
from pyaclnn.health.report.record import CheckResult, Evidence
from pyaclnn.health.report.verdict import gravity

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterable, Sequence

    from pyaclnn.health.checks.check import Check
    from pyaclnn.health.checks.check_context import Site
    from pyaclnn.health.child.events import Event, Listener
    from pyaclnn.health.report.figure import Figure

__all__ = ["run_crowd", "together"]

_COUNTED: Final = frozenset({"count", "bytes", "1/s"})


def run_crowd(
    site: Site,
    device: int,
    tell: Listener,
    stop: threading.Event,
    checks: list[Check],
    children: int,
) -> list[CheckResult]:
    """Run checks in several children at a time.

    Args:
        site: What is examined.
        device: The device, which all of them open.
        tell: Told what happens: of what is under way by the first child, of results by all.
        stop: Ends the children when it is set.
        checks: The checks.
        children: How many children run each of them.

    Returns:
        A result for each check, as `together` makes it.
    """

    def under_way(event: Event) -> None:
        if not isinstance(event, Finished):
            tell(event)

    listeners = [under_way, *[lambda _: None] * (children - 1)]
    runs = [GroupRun(site, device, listener, stop) for listener in listeners]
    with ThreadPoolExecutor(children) as pool:
        found = list(pool.map(lambda run: run.run(checks), runs))
    results = [together(alike) for alike in zip(*found, strict=True)]
    for result in results:
        tell(Finished(result))
    return results


def together(results: Sequence[CheckResult]) -> CheckResult:
    """Make one result of those of a check in several children.

    Args:
        results: The results.

    Returns:
        The gravest of them, with the evidence of all; what can be counted is added up, of other
        figures it is the largest.
    """
    worst = min(results, key=lambda result: gravity(result.status))
    evidence = tuple(
        Evidence(item.kind, f"process {number}: {item.label}", item.text)
        for number, result in enumerate(results, 1)
        for item in (Evidence("value", "it says", result.summary), *result.evidence)
    )
    return replace(
        worst,
        summary=f"one of {len(results)} processes: {worst.summary}",
        seconds=max(result.seconds for result in results),
        evidence=evidence,
        figures=_added(figure for result in results for figure in result.figures),
    )


def _added(figures: Iterable[Figure]) -> tuple[Figure, ...]:
    alike: dict[str, Figure] = {}
    for figure in figures:
        before = alike.setdefault(figure.name, figure)
        if before is not figure:
            both = before.value, figure.value
            value = sum(both) if figure.unit in _COUNTED else max(both)
            alike[figure.name] = replace(figure, value=value)
    return tuple(alike.values())
