# SPDX-License-Identifier: Apache-2.0
"""The parts of a page about many machines: which checks failed on which, and what is the same."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from pyaclnn.health.report.html_sections import badge, paragraph, problem_card, story_of
from pyaclnn.health.report.record import check_of
from pyaclnn.health.report.verdict import about, gravity, verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.health.report.fleet import Fleet
    from pyaclnn.health.report.record import Report, Status

__all__ = ["groups_section", "machines_section", "outliers_section"]

_COLUMNS: Final = 12
"""How many checks the table of machines shows, the gravest and commonest failures first."""
_MOST_OUTLIERS: Final = 200
"""How many outliers are shown, the worst first; the JSON report has all."""


def groups_section(fleet: Fleet) -> str:
    """Return what went wrong anywhere, each with the machines that have it."""
    cards = []
    for group in fleet.groups:
        first = group.results[0]
        shared = replace(first, id=check_of(first), evidence=(), numbers=())
        places = (
            f"<p><b>{len(group.hosts)} of {len(fleet.reports)} machines"
            f"{', on the simulated NPU' if group.simulated else ''}:</b> "
            f"{escape(', '.join(group.hosts))}</p>"
        )
        story = paragraph(first.summary) + places + story_of(shared, summary=False)
        cards.append(problem_card(shared, story))
    return f"<h2>What is wrong, and where</h2>{''.join(cards)}" if cards else ""


def outliers_section(fleet: Fleet) -> str:
    """Return the devices whose figures are worse than those of the others of their chip."""
    if not fleet.outliers:
        return ""
    rows = "".join(
        f"<tr{_marked(simulated)}><td>{escape(machine)}</td><td>{escape(device)}</td>"
        f"<td>{escape(outlier.severity.value)}</td><td>{escape(str(outlier))}</td></tr>"
        for machine, device, simulated, outlier in fleet.outliers[:_MOST_OUTLIERS]
    )
    more = len(fleet.outliers) - _MOST_OUTLIERS
    rest = f'<p class="soft small">{more} more are in the JSON report.</p>' if more > 0 else ""
    return (
        '<h2>Devices that are worse than the others</h2><div class="card scroll"><table><thead><tr>'
        "<th>machine</th><th>device</th><th>severity</th><th>figure</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>{rest}</div>"
    )


def _marked(simulated: bool) -> str:
    return ' class="mock"' if simulated else ""


def machines_section(fleet: Fleet) -> str:
    """Return every machine, with how the checks ended on it that are not in order everywhere."""
    wrong = list(dict.fromkeys(check_of(group.results[0]) for group in fleet.groups))[:_COLUMNS]
    rows = "".join(
        f"<tr{_marked(report.simulated)}><td>{escape(name)}</td><td>{escape(about(report))}</td>"
        f"<td>{escape(verdict(report).headline)}</td>{_cells(report, wrong)}"
        f'<td class="n">{escape(str(report.exit_status))}</td></tr>'
        for name, report in zip(fleet.names, fleet.reports, strict=True)
    )
    heads = "".join(f"<th>{escape(check)}</th>" for check in wrong)
    return (
        '<h2>Machines</h2><div class="card scroll"><table><thead><tr><th>machine</th>'
        f'<th>examined</th><th>verdict</th>{heads}<th class="n">exit status</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _cells(report: Report, checks: Sequence[str]) -> str:
    """How each check ended, the gravest of its devices; nothing where it is not in the report."""
    worst: dict[str, Status] = {}
    for result in sorted(report.results, key=lambda result: gravity(result.status), reverse=True):
        worst[check_of(result)] = result.status
    return "".join(f"<td>{badge(worst[check]) if check in worst else ''}</td>" for check in checks)
