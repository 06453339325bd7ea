# SPDX-License-Identifier: Apache-2.0
"""The worst of several comparisons, which stands for all of them."""

from __future__ import annotations

import dataclasses
import itertools
import marshal
import math
import operator
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.health.report.columns import digest
from pyaclnn.health.report.fields import plain
from pyaclnn.health.report.record import Number
from pyaclnn.health.report.table import packed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Worst", "error_ratio", "worst_together"]

_KIND: Final = ("operator", "output", "dtype", "shape")
"""What two comparisons have in common if they are of the same."""
_TOLD: Final = ("passed", "max_abs_error", "limit", "matched_ratio", "verdict")
"""What is told of the worst of them."""
_LOOKED_AT: Final = (*_TOLD, "seconds")
_HISTOGRAM: Final = "error_histogram"
_REMEMBERED: Final = 64
"""How many columns of histograms are added once for all tables that have them."""


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


class _Places:
    """Where the rows of tables of one kind belong, and what none of the earlier ones exceeded."""

    __slots__ = ("places", "ratios", "seconds")

    def __init__(self, places: list[_Same]) -> None:
        self.places = places
        self.ratios = [-1.0] * len(places)
        self.seconds = [-1.0] * len(places)

    def worse(
        self, passed: list[bool], errors: list[Any], limits: list[Any], *others: list[Any]
    ) -> Iterable[int]:
        """The rows of a table that may change what is known; nearly all of a fleet's do not."""
        everything, seconds = range(len(self.places)), others[-1]
        if not all(passed):
            return everything
        try:
            if not min(limits) > 0:
                return everything
            ratios = list(map(operator.truediv, errors, limits))
            more, slower = (
                map(operator.gt, ratios, self.ratios),
                map(operator.gt, seconds, self.seconds),
            )
            rows = list(itertools.compress(everything, map(operator.or_, more, slower)))
        except TypeError:  # null, for what is not finite
            return everything
        for n in rows:
            self.ratios[n] = max(self.ratios[n], ratios[n])
            self.seconds[n] = max(self.seconds[n], seconds[n])
        return rows


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
        self._known: dict[bytes, _Places] = {}
        self._histograms: dict[tuple[int, bytes], list[Any]] = {}
        """Where elements belong that were not counted yet, their histograms, and how often."""
        self.add(packed([plain(number) for number in numbers]))

    def add(
        self, table: Mapping[str, Any] | None, digests: Mapping[str, bytes] = MappingProxyType({})
    ) -> None:
        """Take in a table of comparisons.

        Args:
            table: What `packed` makes of comparisons as JSON's own types.
            digests: Those of its columns that are known already.
        """
        if table is None:
            return
        found = self._places(table)
        places = found.places
        self._count(places, table, digests.get(_HISTOGRAM))
        columns = [list(itertools.islice(_column(table, n), len(places))) for n in _LOOKED_AT]
        self.total += len(places)
        self.passed += sum(columns[0])
        rows = list(zip(*columns, strict=True))
        for n in found.worse(*columns):
            same, row = places[n], rows[n]
            *figures, seconds = row
            passed, error, limit = figures[:3]
            badness = (not passed, _ratio(error, limit))
            if badness > same.badness:
                same.badness = badness
                same.row = dict(zip(_TOLD, figures, strict=True))
            if seconds is not None and not seconds <= same.seconds:
                same.seconds = seconds

    def numbers(self) -> list[Number]:
        """Return the worst of each operator, output, dtype and shape, in the order of their coming.

        Each has the slowest time, and the elements of all counted in its histogram.
        """
        for places, histograms, times in self._histograms.values():
            _add(places, histograms, times)
        self._histograms.clear()
        return [_number(kind, same) for kind, same in self._found.items()]

    def _count(self, places: list[_Same], table: Mapping[str, Any], known: bytes | None) -> None:
        """Count the elements: chips of one kind make the same errors, to be added only once."""
        column = list(itertools.islice(_column(table, _HISTOGRAM), len(places)))
        before = self._histograms.get(key := (id(places), known or digest(column)))
        if before is not None:
            before[-1] += 1
        elif len(self._histograms) < _REMEMBERED:
            self._histograms[key] = [places, column, 1]
        else:
            _add(places, column, 1)

    def _places(self, table: Mapping[str, Any]) -> _Places:
        """Where each row belongs; the tables of machines of one kind are about the same."""
        about = [(name in table["same"], _told(table, name)) for name in _KIND]
        key = marshal.dumps(about, 2)  # a later version tells objects from their copies
        places = self._known.get(key)
        if places is None:
            operators, outputs, dtypes, shapes = (_column(table, name) for name in _KIND)
            kinds = zip(operators, outputs, dtypes, map(tuple, shapes))  # noqa: B905  # likewise
            rows = itertools.islice(kinds, table["count"])
            places = _Places([self._found.setdefault(kind, _Same()) for kind in rows])
            self._known[key] = places
        return places


def _number(kind: tuple[Any, ...], same: _Same) -> Number:
    counts = sorted((math.inf if edge is None else edge, n) for edge, n in same.counts.items())
    told: dict[str, Any] = {
        n: math.nan if value is None else value for n, value in same.row.items()
    }
    told.update(zip(_KIND, kind, strict=True))
    return Number(seconds=same.seconds, error_histogram=tuple(counts), **told)


def _add(places: list[_Same], histograms: Iterable[Any], times: int) -> None:
    for same, histogram in zip(places, histograms, strict=True):
        counts = same.counts
        for edge, count in histogram:
            counts[edge] = counts.get(edge, 0) + times * count


def _told(table: Mapping[str, Any], name: str) -> Any:
    return table["same"][name] if name in table["same"] else table["each"][name]


def _column(table: Mapping[str, Any], name: str) -> Iterable[Any]:
    told = _told(table, name)
    return itertools.repeat(told) if name in table["same"] else told
