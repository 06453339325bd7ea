# SPDX-License-Identifier: Apache-2.0
"""The part of a report's page about numbers: pictures, and a table of the same."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Final

from pyaclnn.health.report.html_charts import (
    dtype_class,
    errors_chart,
    histogram_charts,
    timings_chart,
)
from pyaclnn.health.report.html_sections import badge, seconds
from pyaclnn.health.report.record import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyaclnn.health.report.aggregate import Aggregate
    from pyaclnn.health.report.record import Number

__all__ = ["numbers_section"]

_DASH: Final = "\u2013"

_LEGEND_MARKS: Final = (
    '<circle class="{kind}" cx="7" cy="7" r="5"/>',
    '<rect class="{kind}" x="3" y="3" width="8.5" height="8.5" rx="1"/>',
    '<path class="{kind}" d="M7 1l5.5 10.5h-11z"/>',
)


def numbers_section(aggregate: Aggregate, *, simulated: bool) -> str:
    """Return the pictures and the table of the numeric checks."""
    passed, total, numbers = aggregate.passed, aggregate.total, aggregate.numbers()
    if not numbers:
        return ""
    several = (
        " Where the same was computed more than once, the worst is shown."
        if len(numbers) < total
        else ""
    )
    panels = "".join(f"<div>{panel}</div>" for panel in histogram_charts(numbers))
    timings = timings_chart(numbers)
    of_what = "the simulation, not of a chip" if simulated else "a call and its synchronize"
    return (
        f"<h2>Numbers</h2><p>{passed} of {total} outputs meet CANN's accuracy standard, "
        f"compared with a reference computed in float64.{several}</p>"
        f'<div class="card"><h3>Error against what is allowed</h3>{_legend(numbers)}'
        f'<div class="scroll wide">{errors_chart(numbers)}</div>'
        + (
            '<h3>How the errors are distributed</h3><p class="soft small">|error| ÷ tolerance of '
            f'every element, on a logarithmic scale.</p><div class="panels">{panels}</div>'
            if panels
            else ""
        )
        + (
            f'<h3>Timings</h3><p class="soft small">Of {of_what}; one mark for each shape.</p>'
            f'<div class="scroll wide">{timings}</div>'
            if timings
            else ""
        )
        + f"</div>{_table(numbers)}"
    )


def _legend(numbers: Sequence[Number]) -> str:
    keys = []
    for dtype in dict.fromkeys(n.dtype for n in numbers):
        kind = dtype_class(dtype)
        mark = _LEGEND_MARKS[{"dt-b": 1, "dt-c": 2}.get(kind, 0)].format(kind=kind)
        keys.append(f'<span><svg viewBox="0 0 14 14">{mark}</svg>{escape(dtype)}</span>')
    if not all(n.passed for n in numbers):
        cross = '<path class="cross" d="M3 3l8 8m0 -8l-8 8"/>'
        keys.append(f'<span><svg viewBox="0 0 14 14">{cross}</svg>failed</span>')
    return f'<div class="legend">{"".join(keys)}</div>'


def _table(numbers: Sequence[Number]) -> str:
    rows = "".join(
        f"<tr><td>{escape(n.operator)}</td><td>{escape(n.output)}</td><td>{escape(n.dtype)}</td>"
        f"<td>{'&times;'.join(escape(str(size)) for size in n.shape)}</td>"
        f'<td class="n">{_figure(n.max_abs_error)}</td>'
        f'<td class="n">{_figure(n.limit)}</td><td class="n">{_percent(n.matched_ratio)}</td>'
        f'<td class="n">{seconds(n.seconds)}</td>'
        f"<td>{badge(Status.PASS if n.passed else Status.FAIL)}</td></tr>"
        for n in numbers
    )
    heads = (
        "<th>operator</th><th>output</th><th>dtype</th><th>shape</th>"
        '<th class="n">largest |error|</th><th class="n">allowed</th>'
        '<th class="n">within tolerance</th><th class="n">time</th><th></th>'
    )
    return (
        f'<details class="fold"><summary>All {len(numbers)} outputs as a table</summary>'
        f'<div class="scroll card"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div></details>"
    )


def _figure(value: float) -> str:
    return _DASH if math.isnan(value) else f"{value:.2e}"


def _percent(value: float) -> str:
    return _DASH if math.isnan(value) else f"{value:.2%}"
