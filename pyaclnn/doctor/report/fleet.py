# SPDX-License-Identifier: Apache-2.0
"""Many machines' reports as one: which failures are the same, and where."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.doctor.report import exits
from pyaclnn.doctor.report.fields import json_text, plain, read
from pyaclnn.doctor.report.record import SCHEMA, Exit, Report, check_of
from pyaclnn.doctor.report.verdict import (
    BROKEN,
    CALM,
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
    from collections.abc import Iterable, Mapping, Sequence

    from pyaclnn.doctor.report.record import CheckResult

__all__ = [
    "FLEET",
    "TOLD",
    "Fleet",
    "Group",
    "distinct",
    "fleet_verdict",
    "host_name",
    "merge",
    "read_reports",
    "unusual",
    "usual",
]

FLEET: Final = "fleet"
"""What a fleet report says it is."""

TOLD: Final = ("id", "title", "status", "code", "code_name", "summary", "causes", "next_step")
"""What of a group's first result stands for the group."""

_LARGEST: Final = 64 << 20
_EXIT: Final = {
    GOOD: exits.PASSED,
    SIMULATED: exits.PASSED,
    BROKEN: exits.BROKEN,
    UNCLEAR: exits.INCONCLUSIVE,
    NOTHING: exits.NOTHING_HERE,
}
_TONES: Final = (BROKEN, NOTHING, UNCLEAR, SIMULATED, GOOD)
"""From the one that matters most to the one that matters least."""

_VARYING: Final = re.compile(r"0x[0-9a-fA-F]+|\d+")


@dataclass(frozen=True)
class Group:
    """The same failure, wherever it came up.

    Attributes:
        results: One result for each place, of which the first speaks for all.
        hosts: The machines, each once, in the order of the reports.
    """

    results: tuple[CheckResult, ...]
    hosts: tuple[str, ...]


@dataclass(frozen=True)
class Fleet:
    """Reports of several machines, and what they have in common.

    Attributes:
        reports: The reports, in the order in which they were given.
        groups: Failures that are equal, those on most machines first.
        exit_status: What the command exits with: that of the worst machine.
    """

    reports: tuple[Report, ...]
    groups: tuple[Group, ...]
    exit_status: int

    @property
    def names(self) -> tuple[str, ...]:
        """The machines' names, in the order of the reports; those of one name are told apart."""
        return _names(self.reports)

    @property
    def simulated(self) -> bool:
        """Whether nothing here is about hardware."""
        return all(report.simulated for report in self.reports)

    def to_json(self) -> dict[str, Any]:
        """Return the fleet as JSON's own types."""
        return {
            "schema": SCHEMA,
            "kind": FLEET,
            "exit_status": self.exit_status,
            "groups": [
                {
                    **{name: plain(getattr(group.results[0], name)) for name in TOLD},
                    "hosts": list(group.hosts),
                }
                for group in self.groups
            ],
            "reports": [report.to_json() for report in self.reports],
        }

    def to_text(self) -> str:
        """Return the fleet as JSON text."""
        return json_text(self.to_json())


def merge(reports: Iterable[Report]) -> Fleet:
    """Put reports together and group equal failures.

    Two failures are equal if the same check failed with the same status and the same code of CANN;
    without a code, if their summaries differ in nothing but numbers.

    Args:
        reports: The reports of the machines.
    """
    given = tuple(reports)
    found: dict[tuple[object, ...], list[tuple[str, CheckResult]]] = {}
    for name, report in zip(_names(given), given, strict=True):
        for result in problems(report.results):
            found.setdefault(_likeness(result, host_name(report)), []).append((name, result))
    groups = [
        Group(tuple(result for _, result in places), tuple(dict.fromkeys(h for h, _ in places)))
        for places in found.values()
    ]
    groups.sort(key=lambda group: (gravity(group.results[0].status), -len(group.hosts)))
    tones = {verdict(report).tone for report in given}
    worst = next((tone for tone in _TONES if tone in tones), UNCLEAR)
    statuses = [report.exit_status for report in given]
    status = exits.BROKEN if exits.BROKEN in statuses else max([_EXIT[worst], *statuses])
    return Fleet(given, tuple(groups), status)


def _names(reports: Sequence[Report]) -> tuple[str, ...]:
    """Each report's machine; its id goes with a name that several machines have."""
    ids: dict[str, set[object]] = {}
    for report in reports:
        ids.setdefault(host_name(report), set()).add(report.host.get("id"))
    return tuple(
        f"{name} ({report.host['id']})" if len(ids[name]) > 1 and "id" in report.host else name
        for report in reports
        for name in [host_name(report)]
    )


def distinct(reports: Iterable[Report]) -> list[Report]:
    """Return reports without those that are there already, in the order of their first.

    Args:
        reports: The reports, some of them perhaps read twice.
    """
    found: dict[tuple[str, object, str, float], list[Report]] = {}
    order: list[Report] = []
    for report in reports:
        # Few have that in common without being the same.
        key = host_name(report), report.host.get("id"), report.started, report.seconds
        if report not in found.setdefault(key, []):
            found[key].append(report)
            order.append(report)
    return order


def usual(fleet: Fleet) -> dict[str, tuple[object, CheckResult]]:
    """Return what each check found on most machines, by the check's name without a device.

    Args:
        fleet: What `merge` made.

    Returns:
        What makes results equal, as for `merge`, and the first such result.
    """
    found: dict[str, dict[object, list[CheckResult]]] = {}
    for report in fleet.reports:
        for result in report.results:
            likeness = _likeness(result, host_name(report))
            alike = found.setdefault(check_of(result), {})
            alike.setdefault(likeness, []).append(result)
    commonest = {
        check: max(alike, key=lambda one: len(alike[one])) for check, alike in found.items()
    }
    return {check: (one, found[check][one][0]) for check, one in commonest.items()}


def unusual(report: Report, common: Mapping[str, tuple[object, CheckResult]]) -> list[CheckResult]:
    """Return the results of a machine that are wrong, or not as on most machines.

    Args:
        report: The machine's report.
        common: What `usual` returned.
    """
    name = host_name(report)
    return [
        result
        for result in report.results
        if gravity(result.status) < CALM or _likeness(result, name) != common[check_of(result)][0]
    ]


def host_name(report: Report) -> str:
    """Return the name of the machine that a report is about."""
    return str(report.host.get("name") or "unnamed")


def fleet_verdict(fleet: Fleet) -> Verdict:
    """Sum a fleet up.

    Args:
        fleet: What `merge` made.
    """
    tones = [verdict(report).tone for report in fleet.reports]
    total = len(tones)
    machines = "machine" if total == 1 else "machines"
    parts = [
        f"{tones.count(tone)} {words}"
        for tone, words in (
            (BROKEN, "broken"),
            (NOTHING, "without a usable device"),
            (UNCLEAR, "unclear"),
            (SIMULATED, "simulated only"),
            (GOOD, "working"),
        )
        if tone in tones
    ]
    worst = next((tone for tone in _TONES if tone in tones), UNCLEAR)
    first = fleet.groups[0] if fleet.groups else None
    detail, step, result = "", None, None
    if first is not None and worst != GOOD:
        result = first.results[0]
        detail = f"The commonest problem is {result.id} on {len(first.hosts)} of them: "
        detail, step = detail + result.summary, result.next_step
    return Verdict(worst, f"{total} {machines}: {', '.join(parts)}.", detail, step, result)


def read_reports(path: str) -> Sequence[Report]:
    """Read the reports in a file that ``--json`` wrote, of one machine or of a fleet.

    Args:
        path: The file.

    Raises:
        ValueError: It cannot be read, or holds no report; the message names the file.
    """
    try:
        with Path(path).open("rb") as file:
            text = file.read(_LARGEST + 1)
    except OSError as error:
        raise ValueError(f"'{path}' cannot be read: {error.strerror or error}.") from None
    try:
        if len(text) > _LARGEST:
            raise ValueError(f"it is larger than {_LARGEST >> 20} MiB")  # noqa: TRY301  # told as any other
        data = json.loads(text)
        if isinstance(data, dict) and data.get("kind") == FLEET:
            reports = [Report.from_json(one) for one in _reports(data)]
        else:
            reports = [Report.from_json(data)]
    except RecursionError:
        raise ValueError(f"'{path}' is not a report of pyaclnn doctor: too deep.") from None
    except ValueError as error:
        raise ValueError(f"'{path}' is not a report of pyaclnn doctor: {error}.") from None
    return reports


def _reports(data: dict[str, Any]) -> list[Any]:
    """The reports of a fleet; the rest of it follows from them, but has to be what it must be."""
    read(Exit, data.get("exit_status"), "exit_status")
    reports = data.get("reports")
    if not isinstance(reports, list) or not reports:
        raise ValueError("reports is missing, empty or no array")
    return reports


def _likeness(result: CheckResult, host: str) -> tuple[object, ...]:
    check = check_of(result)
    if result.code is not None:
        return check, result.status, result.code
    return check, result.status, _VARYING.sub("#", result.summary.replace(host, "HOST"))
