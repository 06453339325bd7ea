# SPDX-License-Identifier: Apache-2.0
"""Outliers: devices or machines whose figure is worse than those of the others."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from msgspec import Struct

from pyaclnn.health.report.record import Figure, Severity, device_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyaclnn.health.report.record import Report

__all__ = [
    "DRAIN_FROM",
    "LEAST_DEVIATION",
    "USUAL_DEVIATIONS",
    "Outlier",
    "Outlying",
    "figures_by_device",
    "graded",
    "outliers",
    "outlying",
    "shortfall",
]

USUAL_DEVIATIONS: Final = 3.5
"""Number of usual deviations (MAD, scaled to a normal distribution's) make an outlier."""
LEAST_DEVIATION: Final = 0.15
"""The share of the median by which an outlier is off at least: equal devices differ by less."""
DRAIN_FROM: Final = 0.40
"""The share from which on a device is not only to be looked at, but out of use."""
_NORMAL: Final = 1.4826
_ENOUGH: Final = 3

_Key = TypeVar("_Key")


class Outlier(Struct, frozen=True):
    """One value that is worse than the others.

    Attributes:
        figure: The value.
        usual: The median of all.
        worse: The share of that by which it is worse.
        severity: The severity of that.
    """

    figure: Figure
    usual: float
    worse: float
    severity: Severity

    def __str__(self) -> str:
        """Return it in words, e.g. ``launches 1000 1/s, 50 % worse than 2000``."""
        by = f"{self.worse:.0%}".replace("%", " %")
        return f"{self.figure}, {by} worse than {self.usual:.4g}"


def graded(worse: float) -> Severity:
    """Return the severity of a figure that is worse than expected by a share."""
    return Severity.DRAIN if worse >= DRAIN_FROM else Severity.MONITOR


def shortfall(value: float, usual: float, better: str) -> tuple[float, float]:
    """Return the amount by which a value is worse than the usual one, and its share of that.

    Args:
        value: The value.
        usual: The expected value.
        better: Which values are better: ``more``, or else ``less``.

    Returns:
        Both below 0 for a better value; the share of a usual value of 0 is 1 for a worse one.
    """
    off = usual - value if better == "more" else value - usual
    return off, off / abs(usual) if usual else float(off > 0)


def outliers(figures: Mapping[_Key, Figure]) -> dict[_Key, Outlier]:
    """Find those that are worse than the others.

    A median does not separate two: of them the worse one is to be looked at if it is worse than
    the better one by as much.

    Args:
        figures: One figure, of one name, of each device or machine.

    Returns:
        The outliers; none of figures of which no value is better.
    """
    values = [figure.value for figure in figures.values()]
    better = next((figure.better for figure in figures.values()), "neither")
    if better == "neither" or len(values) < 2:  # noqa: PLR2004  # one alone is no outlier
        return {}
    if len(values) < _ENOUGH:
        usual, deviation = max(values) if better == "more" else min(values), 0.0
    else:
        usual = statistics.median(values)
        deviation = _NORMAL * statistics.median(abs(value - usual) for value in values)
    found = {}
    for key, figure in figures.items():
        off, share = shortfall(figure.value, usual, better)
        if share > LEAST_DEVIATION and off > USUAL_DEVIATIONS * deviation:
            severity = Severity.MONITOR if len(values) < _ENOUGH else graded(share)
            found[key] = Outlier(figure, usual, share, severity)
    return found


def figures_by_device(report: Report) -> dict[tuple[str, str], dict[str, Figure]]:
    """Return the figures by name and unit, and then by device.

    Args:
        report: The report of one machine.
    """
    found: dict[tuple[str, str], dict[str, Figure]] = {}
    for result in report.results:
        for figure in result.figures:
            found.setdefault((figure.name, figure.unit), {})[device_of(result)] = figure
    return found


class Outlying(NamedTuple):
    """A device of a fleet whose figure is worse than those of the others.

    Attributes:
        machine: The machine's name.
        device: The device there.
        simulated: Whether it is a simulated NPU; these are compared with each other only.
        outlier: The deviation and its severity.
    """

    machine: str
    device: str
    simulated: bool
    outlier: Outlier


def outlying(names: Sequence[str], reports: Sequence[Report]) -> list[Outlying]:
    """Find devices that are worse than the others of their chip in the whole fleet.

    Args:
        names: The machines.
        reports: The report of each.

    Returns:
        Those of hardware first, of these the worst first.
    """
    alike: dict[tuple[bool, str | None, str, str], dict[tuple[str, str], Figure]] = {}
    for machine, report in zip(names, reports, strict=True):
        for (name, unit), row in figures_by_device(report).items():
            group = alike.setdefault((report.simulated, report.soc_name, name, unit), {})
            group.update({(machine, device): figure for device, figure in row.items()})
    found = [
        Outlying(*place, kind[0], outlier)
        for kind, figures in alike.items()
        for place, outlier in outliers(figures).items()
    ]
    return sorted(found, key=lambda one: (one.simulated, -one.outlier.worse))
