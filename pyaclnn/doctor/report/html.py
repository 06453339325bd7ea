# SPDX-License-Identifier: Apache-2.0
"""A report as one HTML file that opens anywhere, also on a machine without a network."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib import resources
from string import Template
from typing import TYPE_CHECKING

from pyaclnn.doctor.report.clean import cleaned
from pyaclnn.doctor.report.fleet import fleet_verdict, host_name, merge
from pyaclnn.doctor.report.html_numbers import numbers_section
from pyaclnn.doctor.report.html_sections import (
    badge,
    banner,
    checks_section,
    environment_section,
    problems_section,
    verdict_section,
)
from pyaclnn.doctor.report.verdict import about, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.doctor.report.fleet import Fleet
    from pyaclnn.doctor.report.record import Report

__all__ = ["as_html"]


def as_html(reports: Sequence[Report]) -> str:
    """Return a page about one machine, or about a fleet if there are several.

    Styles, pictures and the little script are in the page; it refers to nothing outside, and its
    content policy forbids a browser to fetch anything, and to run any script but that one.

    Args:
        reports: The reports of one or more machines.
    """
    template = resources.files("pyaclnn.doctor.report") / "page.html"
    shown = [cleaned(report) for report in reports]
    first = shown[0]
    if len(reports) == 1:
        title, body = f"pyaclnn doctor: {host_name(first)}", _machine_page(first)
    else:
        title, body = f"pyaclnn doctor: {len(reports)} machines", _fleet_page(merge(shown))
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
        + _details(report)
    )


def _details(report: Report, *, numbers: bool = True) -> str:
    return (
        (_numbers([report]) if numbers else "")
        + environment_section(report)
        + checks_section(report.results)
    )


def _numbers(reports: Sequence[Report]) -> str:
    numbers = [n for report in reports for result in report.results for n in result.numbers]
    return numbers_section(numbers, simulated=any(report.simulated for report in reports))


def _fleet_page(fleet: Fleet) -> str:
    results = [result for report in fleet.reports for result in report.results]
    chips = ", ".join(
        dict.fromkeys(r.soc_name for r in fleet.reports if r.simulated and r.soc_name)
    )
    return (
        _top(f"{len(fleet.reports)} machines", escape(fleet.reports[0].started[:10]))
        + (banner(chips) if fleet.simulated else "")
        + verdict_section(fleet_verdict(fleet), results)
        + _groups(fleet)
        + _machines(fleet)
        # What a simulation computed says nothing of the chips beside it.
        + _numbers([report for report in fleet.reports if report.simulated == fleet.simulated])
        + "".join(map(_folded, fleet.reports, fleet.names))
    )


def _folded(report: Report, name: str) -> str:
    """One machine of a fleet; pictures of its numbers only if some are wrong."""
    wrong = any(not number.passed for result in report.results for number in result.numbers)
    return (
        f'<details class="machine"><summary>{escape(name)}</summary>'
        f"{banner(report.soc_name) if report.simulated else ''}"
        f"{verdict_section(verdict(report), report.results)}"
        f"{problems_section(report.results)}{_details(report, numbers=wrong)}</details>"
    )


def _groups(fleet: Fleet) -> str:
    if not fleet.groups:
        return ""
    cards = []
    for group in fleet.groups:
        first = group.results[0]
        causes = "".join(f"<li>{escape(cause)}</li>" for cause in first.causes)
        step = (
            f'<div class="next"><b>Next</b>{escape(first.next_step)}</div>'
            if first.next_step
            else ""
        )
        cards.append(
            f'<article class="card problem{"" if first.status.broken else " mild"}">'
            f"<h3>{badge(first.status)} <span>{escape(first.title)}</span> "
            f'<span class="soft mono">{escape(first.id.partition("@")[0])}</span></h3>'
            f"<p>{escape(first.summary)}</p>"
            f"<p><b>{len(group.hosts)} of {len(fleet.reports)} machines:</b> "
            f"{escape(', '.join(group.hosts))}</p>"
            + (f'<div class="cap">Likely causes</div><ol>{causes}</ol>' if causes else "")
            + f"{step}</article>"
        )
    return f"<h2>What is wrong, and where</h2>{''.join(cards)}"


def _machines(fleet: Fleet) -> str:
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(about(report))}</td>"
        f"<td>{escape(verdict(report).headline)}</td>"
        f'<td class="n">{escape(str(report.exit_status))}</td></tr>'
        for name, report in zip(fleet.names, fleet.reports, strict=True)
    )
    return (
        '<h2>Machines</h2><div class="card scroll"><table><thead><tr><th>machine</th>'
        '<th>examined</th><th>verdict</th><th class="n">exit status</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )
