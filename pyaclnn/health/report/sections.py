# SPDX-License-Identifier: Apache-2.0
"""Sections of a fleet: machines by their worst finding, and what differs from most machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pyaclnn.health.report.fleet import TONES
from pyaclnn.health.report.record import check_of
from pyaclnn.health.report.verdict import CALM, gravity

if TYPE_CHECKING:
    from pyaclnn.health.report.fleet import Fleet
    from pyaclnn.health.report.record import CheckResult
    from pyaclnn.health.report.reports import Reports

__all__ = ["Section", "unusual", "usual", "worst_first"]


class Section(NamedTuple):
    """Machines of a fleet whose worst finding is the same.

    Attributes:
        tone: The tone of their verdicts in words, e.g. ``broken``.
        first: The place of the finding in the fleet's groups; None if they have no problem.
        machines: Their places among the reports.
    """

    tone: str
    first: int | None
    machines: list[int]


def worst_first(fleet: Fleet) -> list[Section]:
    """Return the machines of a fleet by what is worst on them, the worst first.

    Args:
        fleet: The fleet.
    """
    first: dict[str, int] = {}
    for number, group in enumerate(fleet.groups):
        for host in group.hosts:
            first.setdefault(host, number)
    found: dict[tuple[int, int], list[int]] = {}
    tones = list(TONES)
    for place, (name, tone) in enumerate(zip(fleet.names, fleet.tones, strict=True)):
        rank = tones.index(tone)
        found.setdefault((rank, first.get(name, len(fleet.groups))), []).append(place)
    return [
        Section(TONES[tones[rank]][1], n if n < len(fleet.groups) else None, found[rank, n])
        for rank, n in sorted(found)
    ]


def usual(reports: Reports) -> list[CheckResult]:
    """Return the commonest finding of each check, apart for real and simulated machines.

    Args:
        reports: The machines' reports.
    """
    return [result for result, _ in _commonest(reports).values()]


def unusual(reports: Reports) -> dict[int, list[CheckResult]]:
    """Return the results of each machine that are wrong, or not as on most machines.

    Args:
        reports: The machines' reports.

    Returns:
        The results by the machine's place; only of machines that have any.
    """
    common = {id(same) for _, alike in _commonest(reports).values() for same in alike}
    found = {}
    for place, report in enumerate(reports):
        different = [
            result
            for result in report.results
            if gravity(result.status) < CALM or id(result) not in common
        ]
        if different:
            found[place] = different
    return found


def _commonest(reports: Reports) -> dict[object, tuple[CheckResult, list[CheckResult]]]:
    """Return the first result of the commonest finding of each check, and all that are equal."""
    common = {(key, max(n, key=n.__getitem__)) for key, n in reports.commonest.items()}
    found: dict[object, tuple[CheckResult, list[CheckResult]]] = {}
    seen: set[int] = set()
    for place, report in enumerate(reports):
        for result in report.results:
            if id(result) not in seen:
                seen.add(id(result))
                kind = (report.simulated, check_of(result)), reports.kind(place, result)
                if kind in common:
                    found.setdefault(kind, (result, []))[1].append(result)
    return found
