# SPDX-License-Identifier: Apache-2.0
"""The worst of several comparisons, which stands for all of them."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pyaclnn.doctor.report.record import Number

__all__ = ["error_ratio", "worst_of", "worst_together"]


def error_ratio(number: Number) -> float:
    """Return the largest error as a share of what is allowed; infinite if there is no result.

    Args:
        number: The comparison.
    """
    if math.isnan(number.max_abs_error) or math.isinf(number.max_abs_error):
        return math.inf
    if number.limit > 0:
        return number.max_abs_error / number.limit
    return math.inf if number.max_abs_error else 0.0


def worst_of(numbers: Iterable[Number]) -> list[Number]:
    """Put together what several devices or machines computed of the same input.

    Args:
        numbers: Any comparisons.

    Returns:
        One for each operator, output, dtype and shape: the worst of them, with the slowest time
        and the elements of all counted in its histogram.
    """
    found: dict[tuple[object, ...], list[Number]] = {}
    for number in numbers:
        key = (number.operator, number.output, number.dtype, number.shape)
        found.setdefault(key, []).append(number)
    return [worst_together(same) for same in found.values()]


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
