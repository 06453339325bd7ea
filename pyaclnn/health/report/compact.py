# SPDX-License-Identifier: Apache-2.0
"""Compact store of the reports of a fleet: no record is kept of a comparison that passed."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from msgspec.structs import replace

from pyaclnn.health.report.aggregate import Aggregate
from pyaclnn.health.report.clean import cleaned
from pyaclnn.health.report.record import Report, host_name

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Compact", "Reports"]


@dataclass(frozen=True)
class Compact:
    """Compact form of a report.

    Attributes:
        report: The report with harmless texts, and of its comparisons those that failed.
        packed: The whole report as JSON text, compressed.
    """

    report: Report
    packed: bytes

    @property
    def text(self) -> str:
        """The whole report as JSON text, on one line."""
        return zlib.decompress(self.packed).decode("utf-8", "surrogatepass")

    def whole(self) -> Report:
        """Return the report as it was given."""
        return Report.from_text(self.text)


class Reports(Sequence[Report]):
    """Reports of many machines, each in its compact form.

    As a sequence these are the reports with harmless texts, and of their comparisons those that
    failed.

    Attributes:
        compact: The compact form of each report.
        aggregate: The comparisons of all machines, by whether they were simulated.
    """

    def __init__(self, reports: Iterable[Report] = ()) -> None:
        """Begin with some reports."""
        self.compact: list[Compact] = []
        self.aggregate = {False: Aggregate(), True: Aggregate()}
        self._read: dict[tuple[object, ...], list[Report]] = {}
        for report in reports:
            text = json.dumps(report.to_json(), allow_nan=False, separators=(",", ":"))
            self._add(report, _small(report), text)

    def __len__(self) -> int:
        return len(self.compact)

    @overload
    def __getitem__(self, place: int) -> Report: ...

    @overload
    def __getitem__(self, place: slice) -> list[Report]: ...

    def __getitem__(self, place: int | slice) -> Report | list[Report]:
        if isinstance(place, slice):
            return [one.report for one in self.compact[place]]
        return self.compact[place].report

    def read(self, data: Any, text: str) -> None:
        """Read a report and add it, unless it was read before.

        Args:
            data: The report as JSON's own types.
            text: Its text.

        Raises:
            ValueError: It is no report; see `Report.from_json`.
        """
        report = Report.from_json(data)
        small = _small(report)
        # Few reports have that in common without being the same.
        moment = host_name(report), report.host.get("id"), report.started, report.seconds
        same = self._read.setdefault(moment, [])
        if small not in same:
            same.append(small)
            # No line ends inside of a text of JSON.
            line = "".join(part.strip(" \t\r") for part in text.split("\n"))
            self._add(report, small, line)

    def _add(self, report: Report, small: Report, text: str) -> None:
        for result in report.results:
            self.aggregate[report.simulated].add(result.numbers)
        packed = zlib.compress(text.encode("utf-8", "surrogatepass"), 1)
        self.compact.append(Compact(small, packed))


def _small(report: Report) -> Report:
    results = (
        replace(result, numbers=tuple(n for n in result.numbers if not n.passed))
        if result.numbers
        else result
        for result in report.results
    )
    return cleaned(replace(report, results=tuple(results)))
