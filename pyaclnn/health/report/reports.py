# SPDX-License-Identifier: Apache-2.0
"""Store of the reports of a fleet, and the reader of their files.

A whole fleet would fill the memory: of each report the comparisons that passed are only counted,
and the rest of its text is kept compressed.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, overload

from msgspec import Raw, Struct
from msgspec.structs import replace

from pyaclnn.base.errors import text_of
from pyaclnn.base.files import open_file
from pyaclnn.health.report.aggregate import Aggregate
from pyaclnn.health.report.codec import cleaned, json_text, read
from pyaclnn.health.report.record import CheckResult, ExitStatus, Report, Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["FLEET", "Reports", "read_reports", "unread", "unreported"]

FLEET: Final = "fleet"
"""The ``kind`` of a fleet report."""

_LARGEST: Final = 64 << 20
_LARGEST_FLEET: Final = 1 << 30
_FLEET_BEGINS: Final = re.compile(rb'\s*\{[^{}\[\]]{0,200}"kind"\s*:\s*"fleet"')


class Reports(Sequence[Report]):
    """Reports of many machines.

    As a sequence these are the reports with harmless texts, and of their comparisons those that
    failed.

    Attributes:
        aggregate: The comparisons of all machines, by whether they were simulated.
    """

    def __init__(self, reports: Iterable[Report] = ()) -> None:
        """Begin with some reports."""
        self.aggregate = {False: Aggregate(), True: Aggregate()}
        self._small: list[Report] = []
        self._packed: dict[int, bytes] = {}
        self._seen: set[bytes] = set()
        for report in reports:
            self.add(report)

    def __len__(self) -> int:
        return len(self._small)

    @overload
    def __getitem__(self, place: int) -> Report: ...

    @overload
    def __getitem__(self, place: slice) -> list[Report]: ...

    def __getitem__(self, place: int | slice) -> Report | list[Report]:
        return self._small[place]

    def add(self, report: Report, *, once: bool = False) -> None:
        """Add a report.

        Args:
            report: The report.
            once: Whether an equal one counts as the same.
        """
        packed = zlib.compress(json_text(report).encode(), 1)
        if once and packed in self._seen:
            return
        self._seen.add(packed)
        self._packed[len(self)] = packed
        results = []
        for result in report.results:
            if result.numbers:
                self.aggregate[report.simulated].add(result.numbers)
                failed = tuple(number for number in result.numbers if not number.passed)
                result = replace(result, numbers=failed)  # noqa: PLW2901  # the smaller form of it
            results.append(result)
        self._small.append(cleaned(replace(report, results=tuple(results))))

    def texts(self) -> Iterator[str]:
        """Yield the JSON text of each report as it was added, on one line."""
        return (zlib.decompress(packed).decode() for packed in self._packed.values())

    def whole(self, place: int) -> Report:
        """Return a report as it was added.

        Args:
            place: Its place in the sequence.
        """
        return read(Report, zlib.decompress(self._packed[place]))


def unread(path: str, reason: str) -> Report:
    """Build the report of a machine whose file cannot be read.

    Args:
        path: The file, which the machine is named after.
        reason: The reason, in a sentence.
    """
    result = CheckResult(
        id="REP-001",
        title="the report can be read",
        category="reports",
        status=Status.ERROR,
        seconds=0.0,
        summary=reason.replace(path, Path(path).name),
        causes=("the file was cut short", "another program, or another version, wrote it"),
        next_step="write it again on that machine: pyaclnn doctor --json FILE",
    )
    return Report.absent(Path(path).stem, (result,))


def unreported(host: str) -> Report:
    """Build the report of a machine that was expected and gave none.

    Args:
        host: Its name.
    """
    result = CheckResult(
        id="REP-002",
        title="every machine that is expected has a report",
        category="reports",
        status=Status.ERROR,
        seconds=0.0,
        summary="there is no report of this machine",
        causes=("the machine cannot be reached", "the doctor was not started there, or was ended"),
        next_step="run it there: pyaclnn doctor --json FILE",
    )
    return Report.absent(host, (result,))


class _FleetFile(Struct):
    """The parts of a fleet's file that are read; the others follow from the reports."""

    kind: Literal["fleet"]
    exit_status: ExitStatus
    reports: tuple[Raw, ...]


class _Kind(Struct):
    kind: object = None


def read_reports(path: str) -> Iterator[Report]:
    """Read the reports in a file that ``--json`` wrote, of one machine or of a fleet, one by one.

    Args:
        path: The file.

    Yields:
        Each report.

    Raises:
        ValueError: It cannot be read, or holds no report; the message names the file.
    """
    try:
        data = _content(path)
        several = read(_Kind, data).kind is not None
        for part in read(_FleetFile, data).reports if several else [data]:
            yield read(Report, part)
    except OSError as error:
        raise ValueError(f"'{path}' cannot be read: {error.strerror or error}.") from None
    except ValueError as error:
        raise ValueError(f"'{path}' is not a report of pyaclnn doctor: {text_of(error)}.") from None


def _content(path: str) -> bytes:
    with open_file(path, "a report", most=_LARGEST_FLEET, streams=True) as file:
        data, largest = file.read(_LARGEST + 1), _LARGEST
        if len(data) > largest and _FLEET_BEGINS.match(data):
            data, largest = data + file.read(_LARGEST_FLEET - len(data) + 1), _LARGEST_FLEET
    if len(data) > largest:
        raise ValueError(f"it is larger than {largest >> 20} MiB")
    encoding = json.detect_encoding(data)
    return data if encoding == "utf-8" else data.decode(encoding).encode()
