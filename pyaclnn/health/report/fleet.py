# SPDX-License-Identifier: Apache-2.0
"""Fleet: the reports of many machines, with equal findings grouped."""

from __future__ import annotations

import gc
import json
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict

from pyaclnn.base.errors import text_of
from pyaclnn.base.locks import cached_property
from pyaclnn.health.report.codec import SCHEMA, json_lines, json_text
from pyaclnn.health.report.figures import Outlying, outlying
from pyaclnn.health.report.hosts import is_same_host, machines_of, without_domain
from pyaclnn.health.report.record import (
    CheckResult,
    Code,
    Exit,
    ExitStatus,
    Figure,
    Report,
    Severity,
    Status,
    host_name,
)
from pyaclnn.health.report.reports import (
    FLEET,
    Reports,
    read_reports,
    unread,
    unreported,
)
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

__all__ = [
    "CLUSTER",
    "TONES",
    "Fleet",
    "Group",
    "fleet_of",
    "fleet_verdict",
    "gather",
    "merge",
    "only",
    "schema",
]

CLUSTER: Final = "cluster"
"""The category of results that are about a machine's place in a cluster."""
TONES: Final = {
    BROKEN: (Exit.BROKEN, "broken"),
    NOTHING: (Exit.NOTHING_HERE, "without a usable device"),
    UNCLEAR: (Exit.INCONCLUSIVE, "unclear"),
    SIMULATED: (Exit.PASSED, "simulated only"),
    GOOD: (Exit.PASSED, "working"),
}
"""Exit status and name of each tone, from the one that matters most to the least."""


class GroupEntry(Struct, forbid_unknown_fields=True):
    """A group in the file of a fleet: what its first result says, and where it occurred."""

    id: str
    title: str
    status: Status
    code: Code | None
    code_name: str | None
    summary: str
    causes: tuple[str, ...]
    next_step: str | None
    hosts: Annotated[tuple[str, ...], Meta(min_length=1, extra_json_schema={"uniqueItems": True})]
    simulated: bool


class OutlierEntry(Struct, forbid_unknown_fields=True):
    """A device in the file of a fleet whose figure is worse than those of the others."""

    host: str
    device: str
    simulated: bool
    figure: Figure
    usual: float
    worse: float
    severity: Severity


class FleetFile(Struct, forbid_unknown_fields=True):
    """The file of a fleet."""

    schema: Literal[4]
    kind: Literal["fleet"]
    exit_status: ExitStatus
    groups: tuple[GroupEntry, ...]
    outliers: tuple[OutlierEntry, ...]
    reports: tuple[Report, ...]


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a report and of a fleet report."""
    either, known = msgspec.json.schema_components(
        [Report, FleetFile], ref_template="#/$defs/{name}"
    )
    found = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Report of pyaclnn doctor",
        "description": "The file that `pyaclnn doctor --json` writes about one machine, and "
        "`pyaclnn doctor merge --json` about several.",
        "oneOf": list(either),
        "$defs": known,
    }
    data: dict[str, Any] = json.loads(json_text(found))  # defaults are tuples until then
    return data


@dataclass(frozen=True)
class Group:
    """A failure and all places where it occurred.

    Attributes:
        results: One result for each place, of which the first stands for all.
        hosts: The machines, each once, in the order of the reports.
        simulated: True if it occurred on simulated NPUs only.
    """

    results: tuple[CheckResult, ...]
    hosts: tuple[str, ...]
    simulated: bool = False

    @property
    def entry(self) -> GroupEntry:
        """The group as it is in the file of a fleet."""
        first = asdict(self.results[0])
        fields = {name: first[name] for name in GroupEntry.__struct_fields__ if name in first}
        return GroupEntry(**fields, hosts=self.hosts, simulated=self.simulated)


@dataclass(frozen=True)
class Fleet:
    """Reports of several machines, and what they have in common.

    Attributes:
        reports: The reports, in the order in which they were given.
        groups: Failures that are equal: those of hardware first, then the gravest, and of these
            those on most machines.
        outliers: Devices whose figures are worse than those of the others of their chip.
    """

    reports: Reports
    groups: tuple[Group, ...]
    outliers: tuple[Outlying, ...]

    @cached_property
    def exit_status(self) -> int:
        """The exit status of the command: that of the worst machine."""
        statuses = [report.exit_status for report in self.reports]
        if Exit.BROKEN in statuses:
            return Exit.BROKEN
        return max([TONES[_worst(self.tones)][0], *statuses])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The machines' names, in the order of the reports; equal names get ids."""
        return _names(self.reports)

    @cached_property
    def tones(self) -> tuple[str, ...]:
        """The tones of the machines' verdicts, in the order of the reports."""
        return tuple(verdict(report).tone for report in self.reports)

    @property
    def simulated(self) -> bool:
        """Return whether no report is about hardware."""
        return all(report.simulated for report in self.reports)

    def lines(self) -> Iterator[str]:
        """Yield the fleet as JSON text, a line for each key, group and report."""
        worse = (
            OutlierEntry(one.machine, one.device, one.simulated, **asdict(one.outlier))
            for one in self.outliers
        )
        return json_lines(
            [
                ("schema", SCHEMA),
                ("kind", FLEET),
                ("exit_status", self.exit_status),
                ("groups", (json_text(group.entry) for group in self.groups)),
                ("outliers", map(json_text, worse)),
                ("reports", self.reports.texts()),
            ]
        )

    def to_text(self) -> str:
        """Return the fleet as JSON text."""
        return "".join(self.lines())

    def to_json(self) -> dict[str, Any]:
        """Return the fleet as JSON's own types."""
        data: dict[str, Any] = json.loads(self.to_text())
        return data


def only(given: Sequence[Report] | Fleet) -> Report | None:
    """Return the report of a machine that is alone, and None if there are several.

    Args:
        given: Reports, or a fleet of them.
    """
    if isinstance(given, Fleet):
        return given.reports.whole(0) if len(given.reports) == 1 else None
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


def gather(paths: Iterable[str], expected: Iterable[str] = ()) -> Fleet:
    """Put the reports in files together; one that is there twice counts once.

    A file that cannot be read is a machine of its own, whose one result gives the reason.

    Args:
        paths: Files that ``--json`` wrote, of one machine each or of a fleet.
        expected: Names of machines; one without a report is a machine whose result says so.
    """
    paths = list(paths)
    reports, unreadable = Reports(), list[tuple[str, str]]()
    # Reports have no cycles: looking for them again and again took a quarter of the time.
    collected = gc.isenabled()
    gc.disable()
    try:
        for path in paths:
            try:
                for report, part in read_reports(path):
                    reports.add(report, part, once=True)
            except ValueError as error:  # noqa: PERF203  # rare
                unreadable.append((path, text_of(error)))
    finally:
        if collected:
            gc.enable()
    machines = machines_of(paths) if unreadable else {}
    for path, reason in unreadable:
        reports.add(unread(path, reason, *machines[PurePath(path)]))
    names: dict[str, list[str]] = {}
    for name in map(host_name, reports):
        names.setdefault(without_domain(name), []).append(name)
    for host in expected:
        if not any(is_same_host(host, name) for name in names.get(without_domain(host), ())):
            reports.add(unreported(host))
    return _together(reports)


def _together(given: Reports) -> Fleet:
    found: dict[tuple[object, ...], list[tuple[str, CheckResult]]] = {}
    names = _names(given)
    for place, (name, report) in enumerate(zip(names, given, strict=True)):
        for result in problems(report.results):
            # A failure of a simulation means nothing for machines with the same failure.
            same = (report.simulated, *given.kind(place, result))
            found.setdefault(same, []).append((name, result))
    groups = [
        Group(
            tuple(result for _, result in places),
            tuple(dict.fromkeys(h for h, _ in places)),
            simulated=bool(same[0]),
        )
        for same, places in found.items()
    ]
    groups.sort(key=_rank)
    return Fleet(given, tuple(groups), tuple(outlying(names, given)))


def _rank(group: Group) -> tuple[bool, int, bool, int]:
    """Return the key of the order of groups; a lost machine comes before faults of machines."""
    first = group.results[0]
    apart = first.category != CLUSTER
    return group.simulated, gravity(first.status), apart, -len(group.hosts)


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
    return next((tone for tone in TONES if tone in tones), UNCLEAR)


def fleet_verdict(fleet: Fleet) -> Verdict:
    """Return the verdict on a fleet.

    Args:
        fleet: The fleet.
    """
    tones = fleet.tones
    total = len(tones)
    machines = "machine" if total == 1 else "machines"
    parts = [f"{tones.count(t)} {words}" for t, (_, words) in TONES.items() if t in tones]
    worst = _worst(tones)
    first = fleet.groups[0] if fleet.groups else None
    detail, step, result = "", None, None
    if first is not None and worst != GOOD:
        result = first.results[0]
        detail = f"The commonest problem is {result.id} on {len(first.hosts)} of them: "
        detail, step = detail + result.summary, result.next_step
    return Verdict(worst, f"{total} {machines}: {', '.join(parts)}.", detail, step, result)
