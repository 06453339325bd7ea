# SPDX-License-Identifier: Apache-2.0
"""Charts of comparisons: rows of marks on a logarithmic axis, and histograms.

The functions compute positions; ``chart.svg`` draws them as inline SVG, which the style sheet of
the page colours. Every mark has a title, which browsers show under the pointer, so that a chart can
be read to the last figure.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn.health.report.record import ERROR_EDGES
from pyaclnn.health.report.template import draw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pyaclnn.health.report.record import Number

__all__ = ["dtype_class", "errors_chart", "histogram_charts", "timings_chart"]

_DTYPES: Final = {"float32": "dt-a", "float16": "dt-b", "bfloat16": "dt-c"}
_SHIFTS: Final = {"dt-a": -8.0, "dt-c": 8.0}
"""Distance of a dtype's marks from the middle of their row, so that they do not overlap."""
_MOST_TICKS: Final = 8

# In pixels: width of the labels and of the plot.
_LEFT: Final = 236.0
_PLOT: Final = 606.0
_EXACT: Final = 56.0
"""Width of the column of errors that are exactly 0."""

_PANEL_SIDE: Final = 12.0
_PANEL_WIDTH: Final = 268.0 - 2 * _PANEL_SIDE
_PANEL_FLOOR: Final = 112.0
_PANEL_CEILING: Final = 34.0


def dtype_class(dtype: str) -> str:
    """Return the style class of a dtype, the same in every chart."""
    return _DTYPES.get(dtype, "dt-d")


class _Axis(NamedTuple):
    """Logarithmic axis from ``10**low`` to ``10**high``."""

    low: int
    high: int
    left: float
    width: float

    def at(self, value: float) -> float:
        """Return the position of a positive value; beyond the ends, that of the end."""
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.left + self.width * min(max(share, 0.0), 1.0)

    def ticks(self, label: Callable[[int], str]) -> list[tuple[float, str]]:
        step = max(1, math.ceil((self.high - self.low) / _MOST_TICKS))
        first = -(-self.low // step) * step
        return [(self.at(10.0**n), label(n)) for n in range(first, self.high + 1, step)]


def _axis(values: Iterable[float], left: float, width: float, *, least: int) -> _Axis:
    """Return the axis that shows all the values, and at least ``least`` decades."""
    logs = [math.log10(value) for value in values]
    low, high = math.floor(min(logs)), math.ceil(max(logs))
    return _Axis(min(low, high - least), high, left, width)


def errors_chart(numbers: Sequence[Number]) -> str:
    """Draw the largest error of every output, as a share of what is allowed there.

    Args:
        numbers: The comparisons; those that share operator and output share a row.
    """
    ratios = [n.error_ratio for n in numbers if 0 < n.error_ratio < math.inf]
    axis = _axis([*ratios, 10.0, 1e-3], _LEFT + _EXACT, _PLOT - _EXACT, least=4)
    exact = _LEFT + _EXACT / 2 - 6

    def place(number: Number) -> float:
        if number.error_ratio == math.inf:
            return axis.left + axis.width
        return axis.at(number.error_ratio) if number.error_ratio else exact

    def title(number: Number) -> str:
        name = f"{number.operator} {number.output} {number.case}"
        return f"{name}: {'passed' if number.passed else 'FAILED'}. {number.verdict}".rstrip()

    def row(number: Number) -> str:
        return f"{number.operator} · {number.output}" if number.output != "-" else number.operator

    return draw(
        "rows",
        "Largest error of every output",
        axis,
        _rows((row(n), n, place(n), title(n)) for n in numbers),
        axis.ticks(_power),
        limit=axis.at(1.0),
        exact=exact,
    )


def timings_chart(numbers: Sequence[Number]) -> str:
    """Draw the duration of each call.

    Args:
        numbers: The comparisons; each call counts once, whatever number of outputs it has.
    """
    calls = {(n.operator, n.case): (n, n.seconds) for n in numbers if n.seconds}.values()
    if not calls:
        return ""
    axis = _axis([seconds for _, seconds in calls], _LEFT, _PLOT, least=1)
    return draw(
        "rows",
        "How long each call took",
        axis,
        _rows(
            (n.operator, n, axis.at(seconds), f"{n.operator} {n.case}: {seconds * 1e3:.3g} ms")
            for n, seconds in calls
        ),
        axis.ticks(_duration),
    )


class _Mark(NamedTuple):
    kind: str
    passed: bool
    x: float
    shift: float
    title: str


def _rows(marks: Iterable[tuple[str, Number, float, str]]) -> dict[str, list[_Mark]]:
    rows: dict[str, list[_Mark]] = {}
    for row, number, x, title in marks:
        kind = dtype_class(number.dtype)
        mark = _Mark(kind, number.passed, x, _SHIFTS.get(kind, 0.0), title)
        rows.setdefault(row, []).append(mark)
    return rows


def histogram_charts(numbers: Sequence[Number]) -> list[str]:
    """Draw, for each operator and dtype, the distribution of the errors of all elements.

    Args:
        numbers: The comparisons; those that share operator and dtype are added up.

    Returns:
        One small chart each.
    """
    panels: dict[tuple[str, str], dict[float, int]] = {}
    for number in numbers:
        panel = panels.setdefault((number.operator, number.dtype), {})
        for edge, count in number.error_histogram:
            upper = math.inf if edge is None else edge
            panel[upper] = panel.get(upper, 0) + count
    # Empty bins are in no report, and have their place in the chart all the same.
    usual = (math.inf if edge is None else edge for edge in ERROR_EDGES)
    edges = sorted({*usual, *(edge for panel in panels.values() for edge in panel)})
    return [_panel(*kind, panel, edges) for kind, panel in panels.items() if sum(panel.values())]


class _Bar(NamedTuple):
    kind: str
    x: float
    width: float
    height: float
    title: str


def _panel(operator: str, dtype: str, counts: Mapping[float, int], edges: Sequence[float]) -> str:
    total, highest = sum(counts.values()), max(counts.values())
    beyond = sum(count for edge, count in counts.items() if edge > 1)
    width = _PANEL_WIDTH / len(edges)
    bars = []
    for index, edge in enumerate(edges):
        if count := counts.get(edge, 0):
            low = f"{edges[index - 1]:.3g}" if index else "0"
            high = "more" if math.isinf(edge) else f"{edge:.3g}"
            title = f"{count} of {total} elements ({count / total:.2%}) from {low} to {high}"
            height = max(1.5, (_PANEL_FLOOR - _PANEL_CEILING) * count / highest)
            kind = "bad" if edge > 1 else dtype_class(dtype)
            bars.append(_Bar(kind, _PANEL_SIDE + width * index + 0.5, width - 1, height, title))
    # The first bar counts the errors below the first edge, zero among them.
    first = _power(round(math.log10(edges[0])) if 0 < edges[0] < math.inf else 0)
    share = f"{beyond / total:.2%} beyond" if beyond else "none beyond"
    return draw(
        "panel",
        operator,
        dtype,
        dtype_class(dtype),
        bars,
        limit=_PANEL_SIDE + width * sum(edge <= 1 for edge in edges),
        first=f"< {first}",
        caption=f"{total:,} elements, {share}",
    )


def _power(exponent: int) -> str:
    if exponent == 0:
        return "1"
    digits = str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{digits}"


def _duration(exponent: int) -> str:
    for least, unit in ((0, "s"), (-3, "ms"), (-6, "µs"), (-9, "ns")):
        if exponent >= least:
            return f"{10 ** (exponent - least)} {unit}"
    return f"{_power(exponent)} s"
