# SPDX-License-Identifier: Apache-2.0
"""The figures of a machine, to read: a line for each, a column for each device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from pyaclnn.health.report.record import device_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from pyaclnn.health.report.figure import Figure
    from pyaclnn.health.report.record import Report

__all__ = ["figures_by_device", "figures_table"]


def figures_by_device(report: Report) -> dict[tuple[str, str], dict[str, Figure]]:
    """Return the figures by name and unit, and then by device.

    Args:
        report: The report of one machine.
    """
    found: dict[tuple[str, str], dict[str, Figure]] = {}
    for result in report.results:
        for figure in result.figures:
            found.setdefault((figure.name, figure.unit), {})[device_of(result)] = figure
    return found


def figures_table(report: Report) -> Iterable[RenderableType]:
    """Yield the figures as a table; nothing if nothing was measured.

    Args:
        report: The report of one machine.
    """
    figures = figures_by_device(report)
    if not figures:
        return
    devices = list(dict.fromkeys(device for row in figures.values() for device in row))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("figure")
    table.add_column("unit")
    for device in devices:
        table.add_column(f"device {device}" if device else "machine", justify="right")
    for (name, unit), row in figures.items():
        values = (f"{row[device].value:.4g}" if device in row else "" for device in devices)
        table.add_row(Text(name), Text(unit), *values)
    yield Text()
    title = "figures of the simulation" if report.simulated else "figures"
    yield Rule(Text(title, style="bold"), align="left", style="dim", characters="─")
    yield table
