# SPDX-License-Identifier: Apache-2.0
"""The part of a report's page about what was measured."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pyaclnn.doctor.report.figures_text import figures_by_device

if TYPE_CHECKING:
    from pyaclnn.doctor.report.record import Report

__all__ = ["figures_section"]


def figures_section(report: Report) -> str:
    """Return the figures of a machine: a line for each, a column for each device.

    Args:
        report: The report of one machine.
    """
    figures = figures_by_device(report)
    if not figures:
        return ""
    devices = list(dict.fromkeys(device for row in figures.values() for device in row))
    heads = "".join(f'<th class="n">device {escape(device)}</th>' for device in devices)
    rows = "".join(
        f"<tr><td>{escape(name)}</td><td>{escape(unit)}</td>"
        + "".join(
            f'<td class="n">{row[device].value:.4g}</td>' if device in row else "<td></td>"
            for device in devices
        )
        + "</tr>"
        for (name, unit), row in figures.items()
    )
    whose = " of the simulation" if report.simulated else ""
    return (
        f'<h2>Figures{whose}</h2><div class="card scroll"><table><thead><tr><th>figure</th>'
        f"<th>unit</th>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
