# SPDX-License-Identifier: Apache-2.0
"""Measuring several ways to do the same thing, in turns, so that they share the machine's moods."""

from __future__ import annotations

import gc
import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["Comparison", "Timing", "as_data", "as_table", "take_turns"]

# Seconds: a sample repeats what is quicker until it takes that long.
SHORTEST_SAMPLE = 0.01
# Thread pools spin for a while after their work is done; nobody should pay for another's.
PAUSE = 0.02


@dataclass(frozen=True)
class Timing:
    """Samples of how long one thing takes.

    Attributes:
        samples: Seconds for doing it once.
    """

    samples: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.samples)

    @property
    def low(self) -> float:
        return min(self.samples)

    @property
    def high(self) -> float:
        return max(self.samples)

    def __str__(self) -> str:
        unit, scale = next(
            ((unit, scale) for unit, scale in (("s", 1), ("ms", 1e3)) if self.median * scale >= 1),
            ("µs", 1e6),
        )
        low, median, high = (value * scale for value in (self.low, self.median, self.high))
        return f"{median:.3g} {unit} ({low:.3g} … {high:.3g})"


@dataclass(frozen=True)
class Comparison:
    """One way against another.

    Attributes:
        case: What is done, e.g. an operator, a data type and a shape.
        name: Whose time is held against the other's.
        timing: Its time.
        baseline_name: The other.
        baseline: The other's time.
        target: The largest ratio that is fine, or None if there is no aim.
    """

    case: str
    name: str
    timing: Timing
    baseline_name: str
    baseline: Timing
    target: float | None = None

    @property
    def ratio(self) -> float:
        """The medians' ratio: how many times as long as the baseline."""
        return self.timing.median / self.baseline.median

    @property
    def ratios(self) -> list[float]:
        """The ratio of each turn by itself."""
        turns = zip(self.timing.samples, self.baseline.samples, strict=True)
        return [mine / other for mine, other in turns]

    @property
    def held(self) -> bool | None:
        """Return whether the ratio is within the target, if there is one."""
        return None if self.target is None else self.ratio <= self.target


def take_turns(
    ways: Mapping[str, Callable[[], object]], turns: int = 7, shortest: float = SHORTEST_SAMPLE
) -> dict[str, Timing]:
    """Time several ways to do something, one sample of each in every turn.

    Args:
        ways: What to time, by name. Each is called at least twice before it counts.
        turns: How many samples to take of each, at least 5; or 1, to try whether all of them work.
        shortest: Seconds that a sample takes at least, by repeating what is quicker.

    Returns:
        The timings by name.
    """
    if turns == 1:
        return {name: Timing((sample(way, 1),)) for name, way in ways.items()}
    if turns < 5:
        raise ValueError(f"turns is {turns}; a median of fewer than 5 samples says little")
    repeats = {}
    for name, way in ways.items():
        way()
        once = sample(way, 1)
        if once < 1:  # other work may have come between
            once = min(once, sample(way, 1), sample(way, 1))
        repeats[name] = max(1, round(shortest / max(once, 1e-9)))
    samples: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(turns):
        for name, way in ways.items():
            samples[name].append(sample(way, repeats[name]))
    return {name: Timing(tuple(taken)) for name, taken in samples.items()}


def sample(way: Callable[[], object], repeats: int) -> float:
    """Return the seconds of a call, the mean of so many.

    The collection reads all objects of the program, and the pause lets others use the processor:
    both leave caches without what the way needs. A sample of few calls would measure that, and one
    of many would not, so each begins with as many calls that do not count.
    """
    gc.collect()
    time.sleep(PAUSE)
    for _ in range(repeats if repeats > 1 else 0):
        way()
    start = time.perf_counter()
    for _ in range(repeats):
        way()
    return (time.perf_counter() - start) / repeats


def as_table(title: str, comparisons: Iterable[Comparison]) -> Table:
    """Show comparisons, with the lowest and highest value behind each median."""
    table = Table("case", "time", "against", title=title, title_justify="left")
    table.add_column("ratio", justify="right")
    table.add_column("target", justify="right")
    for row in comparisons:
        colour = {None: "default", True: "green", False: "red"}[row.held]
        table.add_row(
            row.case,
            f"{row.name} {row.timing}",
            f"{row.baseline_name} {row.baseline}",
            f"[{colour}]{row.ratio:.2f}[/] ({min(row.ratios):.2f} … {max(row.ratios):.2f})",
            "" if row.target is None else f"≤ {row.target:g}",
        )
    return table


def as_data(comparisons: Iterable[Comparison]) -> list[dict[str, Any]]:
    """The same as plain data, times in seconds."""
    return [
        {
            "case": row.case,
            row.name: row.timing.samples,
            row.baseline_name: row.baseline.samples,
            "ratio": row.ratio,
            "ratios": row.ratios,
            "target": row.target,
            "held": row.held,
        }
        for row in comparisons
    ]
