# SPDX-License-Identifier: Apache-2.0
"""Aggregate of comparisons: the worst of those of one kind, combined as they are added."""

from __future__ import annotations

import math
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pyaclnn.health.report.record import Number

__all__ = ["Aggregate"]

_MOST_ALIKE: Final = 32
"""Number of different histograms of one kind of comparison that are counted before their bins."""


class Aggregate:
    """Comparisons of several shapes, devices or machines, combined as they are added.

    Attributes:
        passed: Number of comparisons that passed.
        total: Number of all comparisons.
    """

    def __init__(
        self,
        numbers: Iterable[Number] = (),
        kind: Callable[[Number], Any] = attrgetter("operator", "output", "dtype", "shape"),
    ) -> None:
        """Begin with some comparisons.

        Args:
            numbers: The comparisons.
            kind: Returns what is equal for comparisons that are combined.
        """
        self.passed = 0
        self.total = 0
        self._kind = kind
        self._found: dict[Any, _Same] = {}
        self.add(numbers)

    def add(self, numbers: Iterable[Number]) -> None:
        """Add comparisons.

        Args:
            numbers: The comparisons.
        """
        kind, found, total, passed = self._kind, self._found, 0, 0
        for number in numbers:
            key = kind(number)
            same = found.get(key)
            if same is None:
                same = found[key] = _Same(number)
            same.add(number)
            total += 1
            passed += number.passed
        self.total += total
        self.passed += passed

    def numbers(self) -> list[Number]:
        """Return the worst of each kind, in the order of arrival.

        Each has the slowest time, and the elements of all counted in its histogram.
        """
        return [same.number() for same in self._found.values()]


class _Same:
    """Comparisons of one kind."""

    __slots__ = ("alike", "counts", "ratio", "seconds", "worst")

    def __init__(self, first: Number) -> None:
        self.ratio = -1.0
        self.worst = first
        self.seconds: float | None = None
        self.counts: dict[float | None, int] = {}
        self.alike: dict[tuple[tuple[float | None, int], ...], int] = {}

    def add(self, number: Number) -> None:
        passed, worst = number.passed, self.worst.passed
        if passed == worst:
            ratio = number.error_ratio
            if ratio > self.ratio:
                self.ratio, self.worst = ratio, number
        elif worst:
            self.ratio, self.worst = number.error_ratio, number
        seconds = number.seconds
        if seconds is not None and (self.seconds is None or seconds > self.seconds):
            self.seconds = seconds
        histogram, alike = number.error_histogram, self.alike
        if histogram:  # that of another machine is mostly the same
            alike[histogram] = alike.get(histogram, 0) + 1
            if len(alike) > _MOST_ALIKE:
                self._count()

    def _count(self) -> None:
        counts = self.counts
        for histogram, times in self.alike.items():
            for edge, count in histogram:
                counts[edge] = counts.get(edge, 0) + times * count
        self.alike.clear()

    def number(self) -> Number:
        self._count()
        edges = sorted(self.counts, key=lambda edge: math.inf if edge is None else edge)
        counts = tuple((edge, self.counts[edge]) for edge in edges)
        return replace(self.worst, seconds=self.seconds, error_histogram=counts)
