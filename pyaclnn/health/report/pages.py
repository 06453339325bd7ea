# SPDX-License-Identifier: Apache-2.0
"""Reports as one HTML page that opens anywhere, and as JUnit XML, which every CI server shows."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec.structs import replace

from pyaclnn.health.report import charts
from pyaclnn.health.report.aggregate import Aggregate
from pyaclnn.health.report.codec import cleaned
from pyaclnn.health.report.figures import figures_by_device
from pyaclnn.health.report.fleet import fleet_of, fleet_verdict, only, unusual, usual
from pyaclnn.health.report.record import Status, check_of, host_name
from pyaclnn.health.report.template import DASH, environment
from pyaclnn.health.report.verdict import (
    CALM,
    about,
    by_category,
    gravity,
    problems,
    tally,
    verdict,
    wrong_outputs,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from jinja2 import Template

    from pyaclnn.health.report.fleet import Fleet, Group
    from pyaclnn.health.report.record import CheckResult, Figure, Report

__all__ = ["as_html", "as_junit"]

_MOST_IN_FULL: Final = 20
"""Number of machines shown with evidence and charts, those with different failures first."""
_MOST_COLUMNS: Final = 12
"""Number of checks in the table of machines, the gravest and commonest failures first."""


def as_html(given: Sequence[Report] | Fleet) -> str:
    """Return a page about one machine, or about a fleet if there are several.

    Styles, charts and the little script are in the page; it refers to nothing outside, and its
    content policy forbids a browser to fetch anything, and to run any script but that one.

    Args:
        given: The reports of one or more machines.
    """
    one = only(given)
    if one is not None:
        first = cleaned(one)
        title = f"pyaclnn doctor: {host_name(first)}"
        numbers = [number for result in first.results for number in result.numbers]
        context: dict[str, Any] = {"fleet": None, "aggregate": Aggregate(numbers)}
    else:
        fleet = fleet_of(given)
        first = fleet.reports[0]
        title = f"pyaclnn doctor: {len(fleet.reports)} machines"
        context = _fleet_context(fleet)
    return _template().render(title=title, first=first, **context)


def _template() -> Template:
    """Return the template of the page, with the functions that it calls."""
    functions = (
        *(about, problems, tally, verdict, wrong_outputs),
        *(charts.dtype_class, charts.errors_chart, charts.histogram_charts, charts.timings_chart),
        *(figures_by_device, fleet_verdict, host_name),
        *(by_category, devices_of, examined, gravest, host_facts, machines_of, shared),
    )
    names = {function.__name__: function for function in functions}
    return environment().get_template("page.html", globals={**names, "Status": Status})


def devices_of(figures: dict[tuple[str, str], dict[str, Figure]]) -> list[str]:
    """Return the devices of which there are figures, each once."""
    return list(dict.fromkeys(device for row in figures.values() for device in row))


def examined(report: Report) -> dict[str, str]:
    """Return the installation that was examined, in words."""
    return {
        "backend": "simulated NPU" if report.simulated else report.backend,
        "chip": report.soc_name or DASH,
        "CANN": report.cann_version or DASH,
        "libraries": report.directory or DASH,
        "level": report.level,
        "pyaclnn": report.version,
    }


def host_facts(report: Report) -> dict[str, object]:
    """Return the facts about a host, in words."""
    words = {True: "yes", False: "no"}
    facts = report.host.items()
    return {
        key.replace("_", " "): words[value] if isinstance(value, bool) else value
        for key, value in facts
    }


def gravest(report: Report) -> dict[str, Status]:
    """Return the status of each check, the gravest of its devices."""
    results = sorted(report.results, key=lambda result: gravity(result.status), reverse=True)
    return {check_of(result): result.status for result in results}


def machines_of(fleet: Fleet) -> Iterable[tuple[str, Report]]:
    """Return the names and reports of a fleet's machines."""
    return zip(fleet.names, fleet.reports, strict=True)


def shared(group: Group) -> CheckResult:
    """Return the result that stands for a group, without the evidence of a single machine."""
    first = group.results[0]
    return replace(first, id=check_of(first), evidence=(), numbers=())


def _fleet_context(fleet: Fleet) -> dict[str, Any]:
    """Return the findings of most machines, and those of each machine that differs from them."""
    common = usual(fleet.reports)
    in_turn = zip_longest(*(group.hosts for group in fleet.groups))
    names = [name for turn in in_turn for name in turn if name is not None]
    full = set(list(dict.fromkeys([*names, *fleet.names]))[:_MOST_IN_FULL])
    return {
        "fleet": fleet,
        "chips": ", ".join(dict.fromkeys(r.soc_name for r in fleet.reports if r.soc_name)),
        "fleet_tally": tally(result for report in fleet.reports for result in report.results),
        "columns": list(dict.fromkeys(shared(group).id for group in fleet.groups))[:_MOST_COLUMNS],
        "aggregate": fleet.reports.aggregate[fleet.simulated],
        "common": [result for _, result in common.values() if gravity(result.status) >= CALM],
        "unusual": [
            _Unusual.of(name, fleet, place, results, full=name in full)
            for place, name in enumerate(fleet.names)
            if (results := unusual(fleet.reports[place], common))
        ],
    }


class _Unusual(NamedTuple):
    """A machine of a fleet that differs from most.

    Attributes:
        name: Its name.
        report: Its report.
        results: The results that differ, with evidence only if the machine is shown in full.
        calm: Those of them that are in order.
        aggregate: The comparisons of these results if some are wrong, otherwise None.
        full: Whether the machine is shown in full.
    """

    name: str
    report: Report
    results: list[CheckResult]
    calm: list[CheckResult]
    aggregate: Aggregate | None
    full: bool

    @classmethod
    def of(
        cls, name: str, fleet: Fleet, place: int, results: list[CheckResult], *, full: bool
    ) -> _Unusual:
        if full:
            ids = {result.id for result in results}
            whole = cleaned(fleet.reports.whole(place))  # the small form lacks comparisons
            results = [result for result in whole.results if result.id in ids]
        else:
            bare = {"evidence": (), "causes": (), "next_step": None, "numbers": ()}
            results = [replace(result, **bare) for result in results]
        numbers = [number for result in results for number in result.numbers]
        wrong = any(not number.passed for number in numbers)
        calm = [result for result in results if gravity(result.status) >= CALM]
        report, aggregate = fleet.reports[place], Aggregate(numbers) if wrong else None
        return cls(name, report, results, calm, aggregate, full)


_ELEMENTS: Final = {
    status: "failure" if status.broken else "system-out" if status.passed else "skipped"
    for status in Status
} | {Status.ERROR: "error"}
"""The element of a case by its status."""


def as_junit(given: Sequence[Report] | Fleet) -> str:
    """Return the reports as JUnit XML: one suite for each machine, one case for each check.

    FAIL, TIMEOUT and CRASH are failures, ERROR is an error, SKIP and NOT_RUN are skipped; a warning
    passes and is in the case's output.

    Args:
        given: The reports of one or more machines.
    """
    one = only(given)
    reports = fleet_of(given).reports if one is None else (cleaned(one),)
    names = {"about": about, "counts": _counts, "elements": _ELEMENTS, "verdict": verdict}
    template = environment().get_template("junit.xml", globals=names)
    every = [result for report in reports for result in report.results]
    return template.render(reports=reports, every=every)


def _counts(results: Iterable[CheckResult]) -> dict[str, int]:
    elements = [_ELEMENTS[result.status] for result in results]
    kinds = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    return {"tests": len(elements)} | {name: elements.count(one) for name, one in kinds.items()}
