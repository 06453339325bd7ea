# SPDX-License-Identifier: Apache-2.0
"""Reports as one HTML page that opens anywhere, and as JUnit XML, which every CI server shows."""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec.structs import replace

from pyaclnn.health.report import charts
from pyaclnn.health.report.aggregate import Aggregate
from pyaclnn.health.report.codec import cleaned
from pyaclnn.health.report.figures import figures_by_device
from pyaclnn.health.report.fleet import fleet_of, fleet_verdict, only
from pyaclnn.health.report.hosts import listed
from pyaclnn.health.report.record import Status, check_of, host_name
from pyaclnn.health.report.sections import unusual, usual, worst_first
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
_MOST_GROUPS: Final = 300
"""Number of failures that are described, the gravest and commonest first."""

_MOST_IN_ROW: Final = 4
"""Number of checks that the table of machines names for each; the groups list all of them."""


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
        *(by_category, check_of, devices_of, examined, host_facts, listed, shared),
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


def shared(group: Group) -> CheckResult:
    """Return the result that stands for a group, without the evidence of a single machine."""
    first = group.results[0]
    return replace(first, id=check_of(first), evidence=(), numbers=())


def _fleet_context(fleet: Fleet) -> dict[str, Any]:
    """Return the findings of most machines, and those of each machine that differs from them."""
    different = unusual(fleet.reports)
    places = {name: place for place, name in enumerate(fleet.names)}
    in_turn = zip_longest(*(group.hosts for group in fleet.groups))
    worst = [places[name] for turn in in_turn for name in turn if name is not None]
    full = list(dict.fromkeys([*worst, *different]))[:_MOST_IN_FULL]
    counts = Counter(result.status for report in fleet.reports for result in report.results)
    return {
        "fleet": fleet,
        "chips": ", ".join(dict.fromkeys(r.soc_name for r in fleet.reports if r.soc_name)),
        "fleet_tally": {status: counts[status] for status in Status if counts[status]},
        "most_groups": _MOST_GROUPS,
        "most_in_row": _MOST_IN_ROW,
        "sections": [
            (section, [_Row.of(fleet, n, different.get(n, [])) for n in section.machines])
            for section in worst_first(fleet)
        ],
        "aggregate": fleet.reports.aggregate[fleet.simulated],
        "common": [one for one in usual(fleet.reports) if gravity(one.status) >= CALM],
        "unusual": [_Unusual.of(fleet, place, different[place]) for place in sorted(full)],
    }


class _Row(NamedTuple):
    """A machine in the table of a fleet.

    Attributes:
        name: Its name.
        report: Its report.
        wrong: The gravest problem of each check.
        other: The checks without a problem that differ from those of most machines.
    """

    name: str
    report: Report
    wrong: list[CheckResult]
    other: list[str]

    @classmethod
    def of(cls, fleet: Fleet, place: int, different: list[CheckResult]) -> _Row:
        wrong = problems(different)
        other = [check_of(one) for one in different if gravity(one.status) >= CALM]
        first = {check_of(one): one for one in reversed(wrong)}
        return cls(
            fleet.names[place],
            fleet.reports[place],
            list(first.values())[::-1],
            list(dict.fromkeys(other)),
        )


class _Unusual(NamedTuple):
    """A machine of a fleet that differs from most, with all that is known of it.

    Attributes:
        name: Its name.
        report: Its report.
        results: The results that differ.
        calm: Those of them that are in order.
        aggregate: The comparisons of these results if some are wrong, otherwise None.
    """

    name: str
    report: Report
    results: list[CheckResult]
    calm: list[CheckResult]
    aggregate: Aggregate | None

    @classmethod
    def of(cls, fleet: Fleet, place: int, different: list[CheckResult]) -> _Unusual:
        ids = {result.id for result in different}
        whole = cleaned(fleet.reports.whole(place))  # the small form lacks comparisons
        results = [result for result in whole.results if result.id in ids]
        numbers = [number for result in results for number in result.numbers]
        wrong = any(not number.passed for number in numbers)
        calm = [result for result in results if gravity(result.status) >= CALM]
        return cls(fleet.names[place], whole, results, calm, Aggregate(numbers) if wrong else None)


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
    if one is None:
        kept = fleet_of(given).reports
        reports = [cleaned(kept.whole(place)) for place in range(len(kept))]
    else:
        reports = [cleaned(one)]
    names = {"about": about, "counts": _counts, "elements": _ELEMENTS, "verdict": verdict}
    template = environment().get_template("junit.xml", globals=names)
    every = [result for report in reports for result in report.results]
    return template.render(reports=reports, every=every)


def _counts(results: Iterable[CheckResult]) -> dict[str, int]:
    elements = [_ELEMENTS[result.status] for result in results]
    kinds = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    return {"tests": len(elements)} | {name: elements.count(one) for name, one in kinds.items()}
