# SPDX-License-Identifier: Apache-2.0
"""Judgement of figures: outliers among devices, and expectations in a file.

A file of expected figures is made from the report of a healthy machine.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import asdict

from pyaclnn.base.errors import text_of
from pyaclnn.base.files import read_file
from pyaclnn.health.report.codec import json_lines, read
from pyaclnn.health.report.record import Figure, Seconds as NotNegative, Severity, device_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pyaclnn.health.report.record import Report

__all__ = [
    "LEAST_DEVIATION",
    "Baseline",
    "Expectation",
    "Outlier",
    "Outlying",
    "figures_by_device",
    "graded",
    "outliers",
    "outlying",
    "read_baseline",
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
        simulated: True if it is a simulated NPU; these are compared with each other only.
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


_LARGEST: Final = 1 << 20


class Expectation(Struct, frozen=True, forbid_unknown_fields=True):
    """Expected value of one figure.

    Attributes:
        figure: The median of the devices that were measured.
        tolerance: The share by which it may be worse; made to be edited.
    """

    figure: Figure
    tolerance: NotNegative = LEAST_DEVIATION


class Baseline(Struct, frozen=True, forbid_unknown_fields=True):
    """Expected figures of machines of one kind.

    Attributes:
        soc_name: The chip.
        cann_version: The version of CANN, None for that of the simulated NPU.
        simulated: True if they are of the simulated NPU.
        version: The version of pyaclnn that wrote it.
        expectations: The figures.
        kind: The kind of the file.
    """

    soc_name: str | None
    cann_version: str | None
    simulated: bool
    version: str
    expectations: tuple[Expectation, ...]
    kind: Literal["baseline"] = "baseline"

    @classmethod
    def of(cls, report: Report) -> Baseline:
        """Make a baseline of a report; figures without a better value are not expected.

        Args:
            report: The report of a healthy machine.

        Raises:
            ValueError: Nothing was measured.
        """
        alike: dict[str, list[Figure]] = {}
        for result in report.results:
            for figure in result.figures:
                if figure.better != "neither":
                    alike.setdefault(figure.name, []).append(figure)
        if not alike:
            raise ValueError("nothing was measured: figures are of the level long")
        return cls(
            report.soc_name,
            report.cann_version,
            report.simulated,
            report.version,
            tuple(_expected(figures) for figures in alike.values()),
        )

    def to_text(self) -> str:
        """Return the text that `read_baseline` reads."""
        return "".join(json_lines(asdict(self).items()))

    def is_of_another_kind(self, soc_name: str | None, *, simulated: bool) -> str | None:
        """Return the reason why this is no measure for a machine; None if it is one.

        Args:
            soc_name: The machine's chip.
            simulated: True if that is simulated.
        """
        if self.simulated != simulated:
            names = {True: "the simulated NPU", False: "a chip"}
            return f"it is of {names[self.simulated]}, and this is {names[simulated]}"
        if self.soc_name != soc_name:
            return f"it is of {self.soc_name}, and this is {soc_name}"
        return None


def _expected(figures: Iterable[Figure]) -> Expectation:
    given = list(figures)
    middle = statistics.median(figure.value for figure in given)
    return Expectation(Figure(given[0].name, middle, given[0].unit, given[0].better))


def read_baseline(path: str) -> Baseline:
    """Read a file that ``--save-baseline`` wrote.

    Args:
        path: The file.

    Raises:
        ValueError: It cannot be read, or is no baseline; the message names the file.
    """
    try:
        text = read_file(path, "a baseline", most=_LARGEST, streams=True)
        found = read(Baseline, text)
    except OSError as error:
        raise ValueError(f"'{path}' cannot be read: {error.strerror or error}.") from None
    except ValueError as error:
        raise ValueError(f"'{path}' is no file of --save-baseline: {text_of(error)}.") from None
    return found
