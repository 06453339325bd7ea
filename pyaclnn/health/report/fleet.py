# SPDX-License-Identifier: Apache-2.0
"""Fleet: the reports of many machines, with equal failures grouped."""

from __future__ import annotations

import gc
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.health.report import exits
from pyaclnn.health.report.compact import Reports
from pyaclnn.health.report.fingerprint import fingerprint
from pyaclnn.health.report.fleet_figures import Outlying, outlying
from pyaclnn.health.report.layout import plain
from pyaclnn.health.report.reading import FLEET, read_reports
from pyaclnn.health.report.record import SCHEMA, host_name
from pyaclnn.health.report.verdict import (
    BROKEN,
    GOOD,
    NOTHING,
    SIMULATED,
    UNCLEAR,
    Verdict,
    gravity,
    problems,
    verdict,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyaclnn.health.report.record import CheckResult, Report

__all__ = ["GROUP_FIELDS", "Fleet", "Group", "fleet_of", "fleet_verdict", "gather", "merge", "only"]

GROUP_FIELDS: Final = (
    "id",
    "title",
    "status",
    "code",
    "code_name",
    "summary",
    "causes",
    "next_step",
)
"""The fields of a group's first result that stand for the group."""

_TONES: Final = {
    BROKEN: (exits.BROKEN, "broken"),
    NOTHING: (exits.NOTHING_HERE, "without a usable device"),
    UNCLEAR: (exits.INCONCLUSIVE, "unclear"),
    SIMULATED: (exits.PASSED, "simulated only"),
    GOOD: (exits.PASSED, "working"),
}
"""Exit status and name of each tone, from the one that matters most to the least."""


@dataclass(frozen=True)
class Group:
    """A failure and all places where it occurred.

    Attributes:
        results: One result for each place, of which the first stands for all.
        hosts: The machines, each once, in the order of the reports.
        simulated: Whether it occurred on simulated NPUs only.
    """

    results: tuple[CheckResult, ...]
    hosts: tuple[str, ...]
    simulated: bool = False


@dataclass(frozen=True)
class Fleet:
    """Reports of several machines, and what they have in common.

    Attributes:
        reports: The reports, in the order in which they were given.
        groups: Failures that are equal: those of hardware first, then the gravest, and of these
            those on most machines.
        outliers: Devices whose figures are worse than those of the others of their chip.
        exit_status: The exit status of the command: that of the worst machine.
    """

    reports: Reports
    groups: tuple[Group, ...]
    outliers: tuple[Outlying, ...]
    exit_status: int

    @property
    def names(self) -> tuple[str, ...]:
        """The machines' names, in the order of the reports; equal names get ids."""
        return _names(self.reports)

    @property
    def simulated(self) -> bool:
        """Return whether no report is about hardware."""
        return all(report.simulated for report in self.reports)

    def lines(self) -> Iterator[str]:
        """Yield the fleet as JSON text, a line for each key, group and report."""
        groups = [
            {
                **{name: plain(getattr(group.results[0], name)) for name in GROUP_FIELDS},
                "hosts": list(group.hosts),
                "simulated": group.simulated,
            }
            for group in self.groups
        ]
        worse = [
            {
                "host": one.machine,
                "device": one.device,
                "simulated": one.simulated,
                **plain(one.outlier),
            }
            for one in self.outliers
        ]
        yield f'{{\n  "schema": {SCHEMA},\n  "kind": "{FLEET}",\n'
        yield f'  "exit_status": {self.exit_status},\n'
        yield from _array("groups", (json.dumps(g, separators=(",", ":")) for g in groups))
        yield ",\n"
        yield from _array("outliers", (json.dumps(one, separators=(",", ":")) for one in worse))
        yield ",\n"
        yield from _array("reports", (one.text for one in self.reports.compact))
        yield "\n}\n"

    def to_text(self) -> str:
        """Return the fleet as JSON text."""
        return "".join(self.lines())

    def to_json(self) -> dict[str, Any]:
        """Return the fleet as JSON's own types."""
        data: dict[str, Any] = json.loads(self.to_text())
        return data


def _array(key: str, items: Iterable[str]) -> Iterator[str]:
    yield f'  "{key}": ['
    between = "\n"
    for item in items:
        yield f"{between}    {item}"
        between = ",\n"
    yield "]" if between == "\n" else "\n  ]"


def only(given: Sequence[Report] | Fleet) -> Report | None:
    """Return the report of a machine that is alone, and None if there are several.

    Args:
        given: Reports, or a fleet of them.
    """
    if isinstance(given, Fleet):
        return given.reports.compact[0].whole() if len(given.reports) == 1 else None
    return given[0] if len(given) == 1 else None


def fleet_of(given: Sequence[Report] | Fleet) -> Fleet:
    """Return a fleet of the reports; a fleet is returned as it is.

    Args:
        given: Reports, or a fleet of them.
    """
    return given if isinstance(given, Fleet) else merge(given)


def merge(reports: Iterable[Report]) -> Fleet:
    """Put reports together and group equal failures.

    Two failures are equal if the same check failed with the same status and the same code of CANN;
    without a code, if their summaries differ in nothing but numbers. Those of real and of simulated
    NPUs are kept apart.

    Args:
        reports: The reports of the machines.
    """
    return _together(Reports(reports))


def gather(paths: Iterable[str]) -> Fleet:
    """Put the reports in files together; one that is there twice counts once.

    Args:
        paths: Files that ``--json`` wrote, of one machine each or of a fleet.

    Raises:
        ValueError: One of them cannot be read, or holds no report; the message names it.
    """
    reports = Reports()
    # Reports have no cycles: looking for them again and again took a quarter of the time.
    collected = gc.isenabled()
    gc.disable()
    try:
        for path in paths:
            read_reports(path, reports)
    finally:
        if collected:
            gc.enable()
    return _together(reports)


def _together(given: Reports) -> Fleet:
    found: dict[tuple[object, ...], list[tuple[str, CheckResult]]] = {}
    names = _names(given)
    for name, report in zip(names, given, strict=True):
        host = host_name(report)
        for result in problems(report.results):
            # A failure of a simulation means nothing for machines with the same failure.
            same = (report.simulated, *fingerprint(result, host))
            found.setdefault(same, []).append((name, result))
    groups = [
        Group(
            tuple(result for _, result in places),
            tuple(dict.fromkeys(h for h, _ in places)),
            simulated=bool(same[0]),
        )
        for same, places in found.items()
    ]
    groups.sort(
        key=lambda group: (group.simulated, gravity(group.results[0].status), -len(group.hosts))
    )
    worst = _worst([verdict(report).tone for report in given])
    statuses = [report.exit_status for report in given]
    status = exits.BROKEN if exits.BROKEN in statuses else max([_TONES[worst][0], *statuses])
    return Fleet(given, tuple(groups), tuple(outlying(names, given)), status)


def _names(reports: Sequence[Report]) -> tuple[str, ...]:
    """Return each report's machine, with its id if several machines have the name."""
    ids: dict[str, set[object]] = {}
    for report in reports:
        ids.setdefault(host_name(report), set()).add(report.host.get("id"))
    return tuple(
        f"{name} ({report.host['id']})" if len(ids[name]) > 1 and "id" in report.host else name
        for report in reports
        for name in [host_name(report)]
    )


def _worst(tones: Sequence[str]) -> str:
    return next((tone for tone in _TONES if tone in tones), UNCLEAR)


def fleet_verdict(fleet: Fleet) -> Verdict:
    """Return the verdict on a fleet.

    Args:
        fleet: The fleet.
    """
    tones = [verdict(report).tone for report in fleet.reports]
    total = len(tones)
    machines = "machine" if total == 1 else "machines"
    parts = [f"{tones.count(t)} {words}" for t, (_, words) in _TONES.items() if t in tones]
    worst = _worst(tones)
    first = fleet.groups[0] if fleet.groups else None
    detail, step, result = "", None, None
    if first is not None and worst != GOOD:
        result = first.results[0]
        detail = f"The commonest problem is {result.id} on {len(first.hosts)} of them: "
        detail, step = detail + result.summary, result.next_step
    return Verdict(worst, f"{total} {machines}: {', '.join(parts)}.", detail, step, result)
