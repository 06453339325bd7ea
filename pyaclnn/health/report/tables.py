# SPDX-License-Identifier: Apache-2.0
"""Tables of the text report: figures by device, and the accuracy of operators."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from pyaclnn.health.report.figures import figures_by_device

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from pyaclnn.health.report.record import CheckResult, Number, Report

__all__ = ["figures_table", "grid", "numbers_table", "section"]


def section(title: str | Text) -> RenderableType:
    """Return a line that begins with a title.

    Args:
        title: The title.
    """
    words = title if isinstance(title, Text) else Text(title, style="bold")
    return Rule(words, align="left", style="dim", characters="─")


def grid(*headings: str, right: Iterable[int] = (), no_wrap: bool = False) -> Table:
    """Return a table without lines.

    Args:
        headings: The heading of each column.
        right: The columns that are aligned to the right.
        no_wrap: Whether cells stay on one line.
    """
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for index, heading in enumerate(headings):
        justify = "right" if index in right else "left"
        table.add_column(heading, justify=justify, no_wrap=no_wrap)  # type: ignore[arg-type]
    return table


def figures_table(report: Report) -> Iterable[RenderableType]:
    """Yield the figures as a table, a column for each device; nothing if nothing was measured.

    Args:
        report: The report of one machine.
    """
    figures = figures_by_device(report)
    if not figures:
        return
    devices = list(dict.fromkeys(device for row in figures.values() for device in row))
    names = [f"device {device}" if device else "machine" for device in devices]
    table = grid("figure", "unit", *names, right=range(2, 2 + len(names)))
    for (name, unit), row in figures.items():
        values = (f"{row[device].value:.4g}" if device in row else "" for device in devices)
        table.add_row(Text(name), Text(unit), *values)
    yield Text()
    yield section("figures of the simulation" if report.simulated else "figures")
    yield table


def numbers_table(results: Iterable[CheckResult]) -> Iterable[RenderableType]:
    """Yield the accuracy of the operators as a table, a row for each with each data type.

    Args:
        results: The results of all checks.
    """
    rows: dict[tuple[str, str], list[Number]] = {}
    for result in results:
        for number in result.numbers:
            rows.setdefault((number.operator, number.dtype), []).append(number)
    if not rows:
        return
    table = grid(
        *("operator", "dtype", "outputs", "largest |error| / allowed", "within tolerance", ""),
        right=(2, 3, 4),
    )
    for (operator, dtype), members in rows.items():
        ratios = [n.error_ratio for n in members if n.limit != 0]
        known = ratios and max(ratios) < math.inf
        good = sum(n.passed for n in members)
        table.add_row(
            Text(operator),
            Text(dtype),
            f"{good}/{len(members)}",
            f"{max(ratios):.1e}" if known else "no result",
            f"{min(n.matched_ratio or 0.0 for n in members):.2%}",
            Text("✓", "green") if good == len(members) else Text("✗ FAIL", "bold red"),
        )
    yield Text()
    yield section("numbers")
    yield table
