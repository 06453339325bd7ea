# SPDX-License-Identifier: Apache-2.0
"""File of expected figures, made from the report of a healthy machine."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct
from msgspec.structs import asdict

from pyaclnn.base.files import read_file
from pyaclnn.health.report.codec import json_lines, read
from pyaclnn.health.report.outliers import LEAST_DEVIATION
from pyaclnn.health.report.record import Figure, Seconds as NotNegative

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyaclnn.health.report.record import Report

__all__ = ["Baseline", "Expectation", "read_baseline"]

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
        simulated: Whether they are of the simulated NPU.
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
            simulated: Whether that is simulated.
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
        raise ValueError(f"'{path}' is no file of --save-baseline: {error}.") from None
    return found
