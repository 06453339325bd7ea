# SPDX-License-Identifier: Apache-2.0
"""A report as one HTML file that opens anywhere, also on a machine without a network."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib import resources
from itertools import zip_longest
from string import Template
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from pyaclnn.health.report.aggregate import Aggregate
from pyaclnn.health.report.clean import cleaned
from pyaclnn.health.report.fingerprint import unusual, usual
from pyaclnn.health.report.fleet import fleet_of, fleet_verdict, only
from pyaclnn.health.report.html_fleet import groups_section, machines_section, outliers_section
from pyaclnn.health.report.html_numbers import numbers_section
from pyaclnn.health.report.html_sections import (
    banner,
    checks_section,
    environment_section,
    figures_section,
    problems_section,
    verdict_section,
)
from pyaclnn.health.report.record import host_name
from pyaclnn.health.report.verdict import CALM, gravity, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.health.report.compact import Compact
    from pyaclnn.health.report.fleet import Fleet
    from pyaclnn.health.report.record import CheckResult, Report

__all__ = ["as_html"]

_TOLD_IN_FULL: Final = 20
"""How many machines are told with evidence and pictures, those with different failures first."""
_ELSEWHERE: Final = "The evidence is in this machine's JSON report."


def as_html(given: Sequence[Report] | Fleet) -> str:
    """Return a page about one machine, or about a fleet if there are several.

    Styles, pictures and the little script are in the page; it refers to nothing outside, and its
    content policy forbids a browser to fetch anything, and to run any script but that one.

    Args:
        given: The reports of one or more machines.
    """
    template = resources.files("pyaclnn.health.report") / "page.html"
    one = only(given)
    if one is not None:
        first = cleaned(one)
        title, body = f"pyaclnn doctor: {host_name(first)}", _machine_page(first)
    else:
        fleet = fleet_of(given)
        first = fleet.reports[0]
        title, body = f"pyaclnn doctor: {len(fleet.reports)} machines", _fleet_page(fleet)
    text = template.read_text(encoding="utf-8")
    script = text.partition("<script>")[2].partition("</script>")[0]
    return Template(text).substitute(
        title=escape(title),
        script=b64encode(sha256(script.encode()).digest()).decode(),
        body=body,
        footer=f"Made by pyaclnn {escape(first.version)}. This page refers to nothing outside.",
    )


def _top(left: str, right: str) -> str:
    return f'<div class="top"><span><b>pyaclnn doctor</b> · {left}</span><span>{right}</span></div>'


def _machine_page(report: Report) -> str:
    when = escape(report.started.replace("T", " ").replace("+00:00", "").rstrip("Z"))
    return (
        _top(escape(host_name(report)), f"{when} UTC · {report.seconds:.1f} s")
        + (banner(report.soc_name) if report.simulated else "")
        + verdict_section(verdict(report), report.results)
        + problems_section(report.results)
        + figures_section(report)
        + _numbers(report)
        + environment_section(report)
        + checks_section(report.results)
    )


def _numbers(report: Report) -> str:
    numbers = [number for result in report.results for number in result.numbers]
    return numbers_section(Aggregate(numbers), simulated=report.simulated)


def _fleet_page(fleet: Fleet) -> str:
    results = [result for report in fleet.reports for result in report.results]
    chips = ", ".join(
        dict.fromkeys(r.soc_name for r in fleet.reports if r.simulated and r.soc_name)
    )
    return (
        _top(f"{len(fleet.reports)} machines", escape(fleet.reports[0].started[:10]))
        + (banner(chips) if fleet.simulated else "")
        + verdict_section(fleet_verdict(fleet), results)
        + machines_section(fleet)
        + outliers_section(fleet)
        + groups_section(fleet)
        # What a simulation computed says nothing of the chips beside it.
        + numbers_section(fleet.reports.aggregate[fleet.simulated], simulated=fleet.simulated)
        + _folded(fleet)
    )


def _folded(fleet: Fleet) -> str:
    """What is the same on most machines, once; then each machine on which something is not."""
    common = usual(fleet.reports)
    same = [result for _, result in common.values() if gravity(result.status) >= CALM]
    in_turn = zip_longest(*(group.hosts for group in fleet.groups))
    names = [name for turn in in_turn for name in turn if name is not None]
    full = set(list(dict.fromkeys([*names, *fleet.names]))[:_TOLD_IN_FULL])
    machines = [
        _differing(name, compact, results, full=name in full)
        for name, compact in zip(fleet.names, fleet.reports.compact, strict=True)
        if (results := unusual(compact.report, common))
    ]
    return (
        '<details class="machine"><summary>What most machines have in common</summary>'
        f"{checks_section(same)}</details>{''.join(machines)}"
    )


def _differing(name: str, compact: Compact, results: list[CheckResult], *, full: bool) -> str:
    """One machine of a fleet; pictures of numbers only of results of which some are wrong."""
    report = compact.report
    if full:
        # A compact form is not all that there is to tell.
        ids = {result.id for result in results}
        results = [result for result in cleaned(compact.whole()).results if result.id in ids]
    else:
        results = [replace(r, evidence=(), causes=(), next_step=None, numbers=()) for r in results]
    wrong = any(not number.passed for result in results for number in result.numbers)
    pictures = _numbers(replace(report, results=tuple(results))) if wrong else ""
    others = [result for result in results if gravity(result.status) >= CALM]
    rest = environment_section(report) if full else f'<p class="soft small">{_ELSEWHERE}</p>'
    return (
        f'<details class="machine"><summary>{escape(name)}</summary>'
        f"{banner(report.soc_name) if report.simulated else ''}"
        f"{verdict_section(verdict(report), report.results)}"
        f"{problems_section(results)}{pictures}"
        f"{checks_section(others, 'Different from most machines') if others else ''}"
        f"{rest}</details>"
    )
