# SPDX-License-Identifier: Apache-2.0
"""The pictures of a report: inline SVG, coloured by the page's style sheet.

Every mark has a title, which browsers show when the pointer rests on it, so that the pictures can
be read to the last figure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final

from pyaclnn.health.report.aggregate import error_ratio
from pyaclnn.health.smoke.edges import ERROR_EDGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyaclnn.health.report.record import Number

__all__ = ["dtype_class", "errors_chart", "histogram_charts", "timings_chart"]

_DTYPES: Final = {"float32": "a", "float16": "b", "bfloat16": "c"}
_ROW: Final = 30
_LEFT: Final = 236
_PLOT: Final = 606
_RIGHT: Final = 24
_TOP: Final = 30
_RADIUS: Final = 4.6
_MOST_TICKS: Final = 8
_SHIFTS: Final = {"dt-a": -8.0, "dt-c": 8.0}
"""Dtypes lie apart in their row, so that they do not cover each other."""


def dtype_class(dtype: str) -> str:
    """Return the style class of a dtype, the same in every picture."""
    return f"dt-{_DTYPES.get(dtype, 'd')}"


@dataclass(frozen=True)
class _Decades:
    """A logarithmic axis from ``10**low`` to ``10**high``."""

    low: int
    high: int
    left: float
    width: float

    def at(self, value: float) -> float:
        """Where a positive value lies; beyond the ends, at the end."""
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.left + self.width * min(max(share, 0.0), 1.0)

    @classmethod
    def over(cls, values: Iterable[float], left: float, width: float, *, least: int) -> _Decades:
        """The axis that shows all the values, and at least ``least`` decades."""
        logs = [math.log10(value) for value in values]
        low, high = math.floor(min(logs)), math.ceil(max(logs))
        while high - low < least:
            low -= 1
        return cls(low, high, left, width)

    def ticks(self) -> list[int]:
        step = max(1, math.ceil((self.high - self.low) / _MOST_TICKS))
        first = -(-self.low // step) * step
        return list(range(first, self.high + 1, step))


def errors_chart(numbers: Sequence[Number]) -> str:
    """Draw the largest error of every output, as a share of what is allowed there.

    Args:
        numbers: The comparisons; those that share operator and output share a row.
    """
    rows = _rows(numbers, lambda n: f"{n.operator} · {n.output}" if n.output != "-" else n.operator)
    ratios = [ratio for n in numbers if 0 < (ratio := error_ratio(n)) < math.inf]
    exact_timeline = 56.0
    axis = _Decades.over(
        [*ratios, 10.0, 1e-3], _LEFT + exact_timeline, _PLOT - exact_timeline, least=4
    )
    height = _TOP + _ROW * len(rows) + 40
    bottom, one = _TOP + _ROW * len(rows), axis.at(1.0)
    parts = [
        _rect(axis.left, _TOP, one - axis.left, bottom - _TOP, "zone-good"),
        _rect(one, _TOP, axis.left + axis.width - one, bottom - _TOP, "zone-bad"),
        _words(_LEFT + exact_timeline / 2 - 6, _TOP - 10, "exact", "tick mid"),
        _words(one, _TOP - 10, "limit", "tick mid strong"),
        *_grid(axis, _TOP, bottom),
        _line(one, _TOP - 4, one, bottom, "limit"),
        _words(
            axis.left + axis.width / 2, bottom + 34, "largest |error| ÷ allowed error", "tick mid"
        ),
    ]
    for index, (name, members) in enumerate(rows.items()):
        y = _TOP + _ROW * (index + 0.5)
        if index % 2:
            parts.append(_rect(0, y - _ROW / 2, _LEFT + _PLOT, _ROW, "band"))
        parts.append(_words(_LEFT - 10, y + 4, name, "label end"))
        for number in members:
            ratio = error_ratio(number)
            x = axis.at(ratio) if 0 < ratio < math.inf else _LEFT + exact_timeline / 2 - 6
            if ratio == math.inf:
                x = axis.left + axis.width
            parts.append(_mark(x, y, number, _error_title(number)))
    return _svg(_LEFT + _PLOT + _RIGHT, height, "Largest error of every output", parts)


def timings_chart(numbers: Sequence[Number]) -> str:
    """Draw how long each call took.

    Args:
        numbers: The comparisons; each call counts once, whatever number of outputs it has.
    """
    calls = {(n.operator, n.dtype, n.shape): n for n in numbers if n.seconds > 0}
    rows = _rows(list(calls.values()), lambda n: n.operator)
    if not rows:
        return ""
    axis = _Decades.over([n.seconds for n in calls.values()], _LEFT, _PLOT, least=1)
    bottom = _TOP + _ROW * len(rows)
    parts = [*_grid(axis, _TOP, bottom, _duration)]
    for index, (name, members) in enumerate(rows.items()):
        y = _TOP + _ROW * (index + 0.5)
        if index % 2:
            parts.append(_rect(0, y - _ROW / 2, _LEFT + _PLOT, _ROW, "band"))
        parts.append(_words(_LEFT - 10, y + 4, name, "label end"))
        for number in members:
            title = (
                f"{number.operator} {number.dtype} {_shape(number)}: {number.seconds * 1e3:.3g} ms"
            )
            parts.append(_mark(axis.at(number.seconds), y, number, title, judged=False))
    return _svg(_LEFT + _PLOT + _RIGHT, bottom + 26, "How long each call took", parts)


def histogram_charts(numbers: Sequence[Number]) -> list[str]:
    """Draw, for each operator and dtype, how the errors of all elements are distributed.

    Args:
        numbers: The comparisons; those that share operator and dtype are added up.

    Returns:
        One small picture each.
    """
    panels: dict[tuple[str, str], dict[float, int]] = {}
    for number in numbers:
        panel = panels.setdefault((number.operator, number.dtype), {})
        for edge, count in number.error_histogram:
            panel[edge] = panel.get(edge, 0) + count
    # Empty bins are in no report, and have their place in the picture all the same.
    edges = sorted({*_EDGES, *(edge for panel in panels.values() for edge in panel)})
    return [
        _panel(operator, dtype, [panel.get(edge, 0) for edge in edges], edges)
        for (operator, dtype), panel in panels.items()
        if sum(panel.values())
    ]


_EDGES: Final = tuple(float(f"{edge:.3g}") for edge in ERROR_EDGES)
_PANEL_WIDTH: Final = 268
_PANEL_HEIGHT: Final = 150
_PANEL_SIDE: Final = 12
_PANEL_FLOOR: Final = 112
_PANEL_CEILING: Final = 34


def _panel(operator: str, dtype: str, counts: Sequence[int], edges: Sequence[float]) -> str:
    total, highest = sum(counts), max(counts)
    beyond = sum(count for edge, count in zip(edges, counts, strict=True) if edge > 1)
    width = (_PANEL_WIDTH - 2 * _PANEL_SIDE) / len(edges)
    share = "none beyond" if not beyond else f"{beyond / total:.2%} beyond"
    parts = [
        _words(_PANEL_SIDE, 14, operator, "label strong"),
        _words(_PANEL_WIDTH - _PANEL_SIDE, 14, dtype, f"label end text-{dtype_class(dtype)}"),
    ]
    at_one = _PANEL_SIDE + width * sum(edge <= 1 for edge in edges)
    right = _PANEL_WIDTH - _PANEL_SIDE
    parts.append(
        _rect(at_one, _PANEL_CEILING, right - at_one, _PANEL_FLOOR - _PANEL_CEILING, "zone-bad")
    )
    for index, (edge, count) in enumerate(zip(edges, counts, strict=True)):
        if count:
            tall = max(1.5, (_PANEL_FLOOR - _PANEL_CEILING) * count / highest)
            low = f"{edges[index - 1]:.3g}" if index else "0"
            high = "more" if math.isinf(edge) else f"{edge:.3g}"
            title = f"{count} of {total} elements ({count / total:.2%}) from {low} to {high}"
            kind = "bad" if edge > 1 else dtype_class(dtype)
            x = _PANEL_SIDE + width * index
            parts.append(_rect(x + 0.5, _PANEL_FLOOR - tall, width - 1, tall, f"bar {kind}", title))
    parts.append(_line(_PANEL_SIDE, _PANEL_FLOOR, right, _PANEL_FLOOR, "base"))
    parts.append(_line(at_one, _PANEL_CEILING - 6, at_one, _PANEL_FLOOR, "limit"))
    parts.append(_words(_PANEL_SIDE, _PANEL_FLOOR + 15, _first(edges), "tick"))
    parts.append(_words(at_one, _PANEL_FLOOR + 15, "tolerance", "tick mid"))
    parts.append(_words(_PANEL_SIDE, _PANEL_FLOOR + 31, f"{total:,} elements, {share}", "tick"))
    return _svg(_PANEL_WIDTH, _PANEL_HEIGHT, f"Errors of {operator} in {dtype}", parts)


def _rows(numbers: Sequence[Number], name: Callable[[Number], str]) -> dict[str, list[Number]]:
    rows: dict[str, list[Number]] = {}
    for number in numbers:
        rows.setdefault(name(number), []).append(number)
    return rows


def _error_title(number: Number) -> str:
    place = f"{number.operator} {number.output} {number.dtype} {_shape(number)}"
    return f"{place}: {'passed' if number.passed else 'FAILED'}. {number.verdict}".rstrip()


def _shape(number: Number) -> str:
    return "x".join(map(str, number.shape)) or "scalar"


def _mark(x: float, y: float, number: Number, title: str, *, judged: bool = True) -> str:
    """A mark whose colour and form both tell the dtype; what failed is a cross."""
    kind = dtype_class(number.dtype)
    y += _SHIFTS.get(kind, 0.0)
    tip = f"<title>{escape(title)}</title>"
    r = _RADIUS
    if judged and not number.passed:
        path = f"M{x - r:.1f} {y - r:.1f}l{2 * r} {2 * r}m0 {-2 * r}l{-2 * r} {2 * r}"
        return f'<path class="cross" d="{path}">{tip}</path>'
    if kind == "dt-b":
        side = 1.7 * r
        return (
            f'<rect class="mark {kind}" x="{x - side / 2:.1f}" y="{y - side / 2:.1f}" '
            f'width="{side:.1f}" height="{side:.1f}" rx="1">{tip}</rect>'
        )
    if kind == "dt-c":
        path = f"M{x:.1f} {y - 1.2 * r:.1f}l{1.1 * r} {2.1 * r}h{-2.2 * r}z"
        return f'<path class="mark {kind}" d="{path}">{tip}</path>'
    return f'<circle class="mark {kind}" cx="{x:.1f}" cy="{y:.1f}" r="{r}">{tip}</circle>'


def _power(exponent: int) -> str:
    if exponent == 0:
        return "1"
    digits = str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{digits}"


def _first(edges: Sequence[float]) -> str:
    """What the first bar counts: errors below the first edge, zero among them."""
    exponent = round(math.log10(edges[0])) if 0 < edges[0] < math.inf else 0
    return f"< {_power(exponent)}"


def _duration(exponent: int) -> str:
    for least, unit in ((0, "s"), (-3, "ms"), (-6, "µs"), (-9, "ns")):
        if exponent >= least:
            return f"{10 ** (exponent - least)} {unit}"
    return f"{_power(exponent)} s"


def _grid(
    axis: _Decades, top: float, bottom: float, say: Callable[[int], str] = _power
) -> list[str]:
    parts = []
    for exponent in axis.ticks():
        x = axis.at(10.0**exponent)
        parts.append(_line(x, top, x, bottom, "grid"))
        parts.append(_words(x, bottom + 16, say(exponent), "tick mid"))
    return parts


def _svg(width: float, height: float, title: str, parts: Iterable[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(title)}" '
        f'style="max-width:{width:g}px">{"".join(parts)}</svg>'
    )


def _rect(x: float, y: float, width: float, height: float, kind: str, title: str = "") -> str:
    tip = f"<title>{escape(title)}</title>" if title else ""
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" '
        f'height="{max(height, 0):.1f}">{tip}</rect>'
    )


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _words(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(text)}</text>'
