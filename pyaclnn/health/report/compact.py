# SPDX-License-Identifier: Apache-2.0
"""What a fleet keeps of a machine's report: little, for nearly all is as on other machines."""

from __future__ import annotations

import json
import marshal
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, overload

from pyaclnn.health.report.aggregate import Worst
from pyaclnn.health.report.clean import cleaned
from pyaclnn.health.report.columns import fits, those_with
from pyaclnn.health.report.fields import hints_of
from pyaclnn.health.report.reader import made, read
from pyaclnn.health.report.record import CheckResult, Number, Report, Seconds, host_name
from pyaclnn.health.report.table import joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Kept", "Reports"]

_OWN: Final = ("seconds", "numbers", "figures")
"""What results have of their own; the rest of them is the same on many machines."""

_NUMBERS: Final = hints_of(CheckResult)["numbers"]
_FIGURES: Final = hints_of(CheckResult)["figures"]


@dataclass(frozen=True)
class Kept:
    """A report as a fleet keeps it.

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
    """Reports of many machines, taken in one after the other: of each what is kept of it.

    As a sequence these are the reports with harmless texts, and of their comparisons those that
    failed.

    Attributes:
        kept: What is kept of each report.
        worst: The comparisons of all machines, by whether they were simulated.
    """

    def __init__(self, reports: Iterable[Report] = ()) -> None:
        """Begin with some reports."""
        self.kept: list[Kept] = []
        self.worst = {False: Worst(), True: Worst()}
        self._known: dict[bytes, CheckResult] = {}
        self._fitting: set[tuple[str, bytes]] = set()
        self._read: dict[tuple[object, ...], list[Kept]] = {}
        for report in reports:
            self.keep(report)

    def __len__(self) -> int:
        return len(self.kept)

    @overload
    def __getitem__(self, place: int) -> Report: ...

    @overload
    def __getitem__(self, place: slice) -> list[Report]: ...

    def __getitem__(self, place: int | slice) -> Report | list[Report]:
        if isinstance(place, slice):
            return [kept.report for kept in self.kept[place]]
        return self.kept[place].report

    def keep(self, report: Report) -> None:
        """Take in a report.

        Args:
            report: The report.
        """
        data, worst = report.to_json(), self.worst[report.simulated]
        for result in data["results"]:
            worst.add(result["numbers"])
        text = json.dumps(data, allow_nan=False, separators=(",", ":"))
        results = tuple(
            replace(r, numbers=tuple(n for n in r.numbers if not n.passed)) for r in report.results
        )
        self._keep(cleaned(replace(report, results=results)), text)

    def read(self, data: Any, text: str) -> None:
        """Read a report and take it in, unless it is here already.

        Args:
            data: The report as JSON's own types.
            text: Its text.

        Raises:
            ValueError: It is no report, as `Report.from_json` says it.
        """
        try:
            report, table, digests = self._quickly(data)
            quick = True
        except (ValueError, TypeError, KeyError, AttributeError):
            # Of a former layout, or not what it must be: then this says in what.
            report, table, digests, quick = Report.from_json(data), None, {}, False
        # Few have that in common without being the same.
        moment = host_name(report), report.host.get("id"), report.started, report.seconds
        here = self._read.setdefault(moment, [])
        if any(kept.whole() == Report.from_json(data) for kept in here):
            return
        if quick:
            self.worst[report.simulated].add(table, digests)
            # No line ends inside of a text of JSON.
            self._keep(report, "".join(line.strip(" \t\r") for line in text.split("\n")))
        else:
            self.keep(report)
        here.append(self.kept[-1])

    def _keep(self, report: Report, text: str) -> None:
        packed = zlib.compress(text.encode("utf-8", "surrogatepass"), 1)
        self.kept.append(Kept(report, packed))

    def _quickly(self, data: Any) -> tuple[Report, dict[str, Any] | None, dict[str, bytes]]:
        """The report without comparisons that passed, and a table of all; an error if unsure.

        Of the table also the digests of columns of lists.
        """
        if not isinstance(data["results"], list):
            raise TypeError
        table = joined([found for one in data["results"] if (found := one["numbers"]) is not None])
        digests = fits(Number, table, self._fitting)
        if digests is None:
            raise ValueError
        results = tuple(map(self._result, data["results"]))
        report = replace(cleaned(Report.from_json({**data, "results": []})), results=results)
        return report, table, digests

    def _result(self, data: Mapping[str, Any]) -> CheckResult:
        common = {name: value for name, value in data.items() if name not in _OWN}
        key = marshal.dumps(common, 2)  # a later version tells objects from their copies
        known = self._known.get(key)
        if known is None:
            nothing = dict.fromkeys(_OWN)
            known = cleaned(CheckResult.from_json({**common, **nothing, "seconds": 0.0}))
            self._known[key] = known
        failed = those_with(data["numbers"], "passed", False)  # of any type in others
        own = {
            "seconds": read(Seconds, data["seconds"]),
            "numbers": read(_NUMBERS, failed) if failed else (),
            "figures": read(_FIGURES, data["figures"]) if data["figures"] else (),
        }
        result: CheckResult = made(CheckResult, {**vars(known), **own})
        return cleaned(result) if failed else result
