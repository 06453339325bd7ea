# SPDX-License-Identifier: Apache-2.0
"""Aggregate of comparisons: the worst of those of one operator, output, dtype and shape."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyaclnn.health.report.record import Number

__all__ = ["Aggregate", "error_ratio", "worst_together"]


def error_ratio(number: Number) -> float:
    """Return the largest error as a share of what is allowed; infinite if there is no result.

    Args:
        number: The comparison.
    """
    error, limit = number.max_abs_error, number.limit
    if not math.isfinite(error):
        return math.inf
    if limit > 0:
        return error / limit
    return math.inf if error else 0.0


def worst_together(same: Sequence[Number]) -> Number:
    """Return the worst of comparisons of one kind.

    Args:
        same: The comparisons, one at least.

    Returns:
        The worst, with the slowest time and the elements of all counted in its histogram.
    """
    found = _Same(same[0])
    for number in same:
        found.add(number)
    return found.number()


class _Same:
    """Comparisons of one operator, output, dtype and shape."""

    __slots__ = ("badness", "counts", "seconds", "worst")

    def __init__(self, first: Number) -> None:
        self.badness = (False, -1.0)
        self.worst = first
        self.seconds = math.nan
        self.counts: dict[float, int] = {}

    def add(self, number: Number) -> None:
        badness = not number.passed, error_ratio(number)
        if badness > self.badness:
            self.badness, self.worst = badness, number
        if number.seconds > self.seconds or math.isnan(self.seconds):
            self.seconds = number.seconds
        counts = self.counts
        for edge, count in number.error_histogram:
            counts[edge] = counts.get(edge, 0) + count

    def number(self) -> Number:
        counts = tuple(sorted(self.counts.items()))
        return replace(self.worst, seconds=self.seconds, error_histogram=counts)


class Aggregate:
    """Comparisons of several devices and machines, combined as they are added.

    Attributes:
        passed: Number of comparisons that passed.
        total: Number of all comparisons.
    """

    def __init__(self, numbers: Iterable[Number] = ()) -> None:
        """Begin with some comparisons."""
        self.passed = 0
        self.total = 0
        self._found: dict[tuple[str, str, str, tuple[int, ...]], _Same] = {}
        self.add(numbers)

    def add(self, numbers: Iterable[Number]) -> None:
        """Add comparisons.

        Args:
            numbers: The comparisons.
        """
        for number in numbers:
            kind = number.operator, number.output, number.dtype, number.shape
            same = self._found.get(kind)
            if same is None:
                same = self._found[kind] = _Same(number)
            same.add(number)
            self.total += 1
            self.passed += number.passed

    def numbers(self) -> list[Number]:
        """Return the worst of each operator, output, dtype and shape, in the order of arrival.

        Each has the slowest time, and the elements of all counted in its histogram.
        """
        return [same.number() for same in self._found.values()]
