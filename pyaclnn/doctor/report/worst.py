# SPDX-License-Identifier: Apache-2.0
"""The worst of several comparisons, which stands for all of them."""

from __future__ import annotations

import dataclasses
import itertools
import marshal
import math
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.doctor.report.fields import plain
from pyaclnn.doctor.report.record import Number
from pyaclnn.doctor.report.table import packed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Worst", "error_ratio", "worst_together"]

_KIND: Final = ("operator", "output", "dtype", "shape")
"""What two comparisons have in common if they are of the same."""
_TOLD: Final = ("passed", "max_abs_error", "limit", "matched_ratio", "verdict")
"""What is told of the worst of them."""


def error_ratio(number: Number) -> float:
    """Return the largest error as a share of what is allowed; infinite if there is no result.

    Args:
        number: The comparison.
    """
    return _ratio(number.max_abs_error, number.limit)


def _ratio(error: float | None, limit: float | None) -> float:
    if error is None or not math.isfinite(error):
        return math.inf
    if limit is not None and limit > 0:
        return error / limit
    return math.inf if error else 0.0


def worst_together(same: Sequence[Number]) -> Number:
    """Return the worst of comparisons of one kind.

    Args:
        same: The comparisons, one at least.

    Returns:
        The worst, with the slowest time and the elements of all counted in its histogram.
    """
    counts: dict[float, int] = {}
    for number in same:
        for edge, count in number.error_histogram:
            counts[edge] = counts.get(edge, 0) + count
    return dataclasses.replace(
        max(same, key=lambda number: (not number.passed, error_ratio(number))),
        seconds=max(number.seconds for number in same),
        error_histogram=tuple(sorted(counts.items())),
    )


class _Same:
    """Comparisons of one operator, output, dtype and shape, as far as they have come."""

    __slots__ = ("badness", "counts", "row", "seconds")

    def __init__(self) -> None:
        self.badness = (False, -1.0)
        self.row: dict[str, Any] = {}
        self.seconds = math.nan
        self.counts: dict[float | None, int] = {}


class Worst:
    """Comparisons put together as they come: what devices and machines computed of the same input.

    Attributes:
        passed: How many comparisons passed.
        total: How many there were.
    """

    def __init__(self, numbers: Iterable[Number] = ()) -> None:
        """Begin with some comparisons."""
        self.passed = 0
        self.total = 0
        self._found: dict[tuple[Any, ...], _Same] = {}
        self._known: dict[bytes, list[_Same]] = {}
        self.add(packed([plain(number) for number in numbers]))

    def add(self, table: Mapping[str, Any] | None) -> None:
        """Take in a table of comparisons.

        Args:
            table: What `packed` makes of comparisons as JSON's own types.
        """
        if table is None:
            return
        told = [_column(table, name) for name in _TOLD]
        rows = zip(*told, _column(table, "seconds"), _column(table, "error_histogram"))  # noqa: B905  # constants are columns without an end
        for same, row in zip(self._places(table), rows, strict=False):
            *figures, seconds, histogram = row
            passed, error, limit = figures[:3]
            self.total += 1
            self.passed += passed
            badness = (not passed, _ratio(error, limit))
            if badness > same.badness:
                same.badness = badness
                same.row = dict(zip(_TOLD, figures, strict=True))
            if seconds is not None and not seconds <= same.seconds:
                same.seconds = seconds
            counts = same.counts
            for edge, count in histogram:
                counts[edge] = counts.get(edge, 0) + count

    def numbers(self) -> list[Number]:
        """Return the worst of each operator, output, dtype and shape, in the order of their coming.

        Each has the slowest time, and the elements of all counted in its histogram.
        """
        return [_number(kind, same) for kind, same in self._found.items()]

    def _places(self, table: Mapping[str, Any]) -> list[_Same]:
        """Where each row belongs; the tables of machines of one kind are about the same."""
        about = [(name in table["same"], _told(table, name)) for name in _KIND]
        key = marshal.dumps(about, 2)  # a later version tells objects from their copies
        places = self._known.get(key)
        if places is None:
            operators, outputs, dtypes, shapes = (_column(table, name) for name in _KIND)
            kinds = zip(operators, outputs, dtypes, map(tuple, shapes))  # noqa: B905  # likewise
            rows = itertools.islice(kinds, table["count"])
            places = [self._found.setdefault(kind, _Same()) for kind in rows]
            self._known[key] = places
        return places


def _number(kind: tuple[Any, ...], same: _Same) -> Number:
    counts = sorted((math.inf if edge is None else edge, n) for edge, n in same.counts.items())
    told: dict[str, Any] = {
        n: math.nan if value is None else value for n, value in same.row.items()
    }
    told.update(zip(_KIND, kind, strict=True))
    return Number(seconds=same.seconds, error_histogram=tuple(counts), **told)


def _told(table: Mapping[str, Any], name: str) -> Any:
    return table["same"][name] if name in table["same"] else table["each"][name]


def _column(table: Mapping[str, Any], name: str) -> Iterable[Any]:
    told = _told(table, name)
    return itertools.repeat(told) if name in table["same"] else told
