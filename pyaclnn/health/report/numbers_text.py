# SPDX-License-Identifier: Apache-2.0
"""How exact the operators were, as a table of the text report."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.rule import Rule
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from pyaclnn.health.report.record import CheckResult, Number

__all__ = ["numbers_table"]


def numbers_table(results: Iterable[CheckResult]) -> Iterable[RenderableType]:
    """Lay out how exact the operators were, a row for each with each data type.

    Args:
        results: The results of all checks.
    """
    numbers = [number for result in results for number in result.numbers]
    if not numbers:
        return
    rows: dict[tuple[str, str], list[Number]] = {}
    for number in numbers:
        rows.setdefault((number.operator, number.dtype), []).append(number)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading, justify in (
        ("operator", "left"),
        ("dtype", "left"),
        ("outputs", "right"),
        ("largest |error| / allowed", "right"),
        ("within tolerance", "right"),
        ("", "left"),
    ):
        table.add_column(heading, justify="right" if justify == "right" else "left")
    for (operator, dtype), members in rows.items():
        ratios = [n.max_abs_error / n.limit for n in members if n.limit]
        good = sum(n.passed for n in members)
        table.add_row(
            Text(operator),
            Text(dtype),
            f"{good}/{len(members)}",
            f"{max(ratios):.1e}"
            if ratios and not any(math.isnan(r) for r in ratios)
            else "no result",
            f"{min(n.matched_ratio for n in members):.2%}",
            Text("✓", "green") if good == len(members) else Text("✗ FAIL", "bold red"),
        )
    yield Text()
    yield Rule(Text("numbers", style="bold"), align="left", style="dim", characters="─")
    yield table
