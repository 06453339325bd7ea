# SPDX-License-Identifier: Apache-2.0
"""Store of the reports of a fleet, and the reader of their files.

A whole fleet would fill the memory: comparisons that passed are only counted, results without a
problem are kept once for all machines that have them, and a report is read again from its file
where the whole of it is needed.
"""

from __future__ import annotations

import functools
import io
import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, overload

from msgspec import Raw, Struct
from msgspec.structs import replace

from pyaclnn.base.errors import text_of
from pyaclnn.base.files import open_file
from pyaclnn.facts.explanations import CLUSTER
from pyaclnn.health.report.aggregate import Aggregate
from pyaclnn.health.report.codec import cleaned, json_text, read
from pyaclnn.health.report.record import (
    CheckResult,
    ExitStatus,
    Report,
    Status,
    check_of,
    host_name,
)
from pyaclnn.health.report.verdict import CALM, gravity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["FLEET", "Reports", "read_reports", "unread", "unreported"]

FLEET: Final = "fleet"
"""The ``kind`` of a fleet report."""

_LARGEST: Final = 64 << 20
_LARGEST_FLEET: Final = 1 << 30
_FLEET_BEGINS: Final = re.compile(rb'\s*\{[^{}\[\]]{0,200}"kind"\s*:\s*"fleet"')


_VARYING: Final = re.compile(r"0x[0-9a-fA-F]+|\d+")


def _fingerprint(result: CheckResult, host: str) -> tuple[str, Status, int | str]:
    """Return what is equal for the same finding on different machines.

    It consists of the check, the status and the code of CANN; without a code, the summary without
    numbers and the machine's name.

    Args:
        result: The finding.
        host: The machine's name.
    """
    if result.code is not None:
        return check_of(result), result.status, result.code
    return check_of(result), result.status, _form(result.summary.replace(host, "HOST"))


@functools.lru_cache(1 << 14)
def _form(summary: str) -> str:
    return _VARYING.sub("#", summary)


@dataclass(frozen=True)
class _Part:
    """Place of a report in an ordinary file.

    Attributes:
        path: The file.
        stamp: Its inode, size and time of change, when it was read.
        begin: Where the report begins in it.
        size: Number of bytes of the report.
    """

    path: str
    stamp: tuple[int, int, int]
    begin: int
    size: int

    def read(self) -> bytes:
        """Return the report's text; raises ValueError if the file has changed."""
        try:
            with open_file(self.path, "a report", most=_LARGEST_FLEET) as file:
                same = _stamp(file.fileno()) == self.stamp
                file.seek(self.begin)
                data = file.read(self.size) if same else b""
        except OSError as error:
            raise ValueError(f"'{self.path}' cannot be read again: {error.strerror}.") from None
        if not data:
            raise ValueError(f"'{self.path}' has changed since it was read; merge again.")
        return data


def _stamp(descriptor: int) -> tuple[int, int, int]:
    status = os.fstat(descriptor)
    return status.st_ino, status.st_size, status.st_mtime_ns


class Reports(Sequence[Report]):
    """Reports of many machines.

    As a sequence these are the reports with harmless texts; of their comparisons those that failed,
    and instead of a result without a problem the first of its kind, without its comparisons.

    Attributes:
        aggregate: The comparisons of all machines, by whether they were simulated.
        commonest: By whether it was simulated and the check, how often each finding occurs.
    """

    def __init__(self, reports: Iterable[Report] = ()) -> None:
        """Begin with some reports."""
        self.aggregate = {False: Aggregate(), True: Aggregate()}
        self.commonest: dict[tuple[bool, str], Counter[tuple[object, ...]]] = {}
        self._small: list[Report] = []
        self._whole: list[_Part | bytes] = []
        self._seen: set[int] = set()
        self._alike: dict[tuple[object, ...], CheckResult] = {}
        self._kinds: dict[int, tuple[object, ...]] = {}
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

    def add(self, report: Report, part: _Part | None = None, *, once: bool = False) -> None:
        """Add a report.

        Args:
            report: The report.
            part: Where it can be read again; otherwise its text is kept, compressed.
            once: True if an equal one counts as the same.
        """
        if once:
            # Durations tell two runs apart; what they found need not be compared.
            results = tuple((one.id, one.status, one.seconds) for one in report.results)
            of_all = report.started, report.seconds, report.exit_status, results
            equal = hash((tuple(sorted(report.host.items())), *of_all))
            if equal in self._seen:
                return
            self._seen.add(equal)
        self._whole.append(part or zlib.compress(json_text(report).encode(), 1))
        host, simulated = host_name(report), report.simulated
        kept_results = []
        for result in report.results:
            if result.numbers:
                self.aggregate[simulated].add(result.numbers)
            found = _fingerprint(result, host)
            counts = self.commonest.get((simulated, check := found[0]))
            if counts is None:
                counts = self.commonest[simulated, check] = Counter()
            counts[found] += 1
            calm = gravity(result.status) >= CALM and not result.figures
            kind = simulated, result.id, found
            kept = self._alike.get(kind) if calm else None
            if kept is None:
                failed = tuple(number for number in result.numbers if not number.passed)
                kept = cleaned(replace(result, numbers=failed))
                if calm:
                    self._alike[kind] = kept
                    self._kinds[id(kept)] = found
            kept_results.append(kept)
        self._small.append(
            replace(cleaned(replace(report, results=())), results=tuple(kept_results))
        )

    def kind(self, place: int, result: CheckResult) -> tuple[object, ...]:
        """Return what is equal for the same finding on different machines.

        Args:
            place: The machine's place in the sequence.
            result: One of its results.
        """
        # One that machines share may contain the name of the first.
        return self._kinds.get(id(result)) or _fingerprint(result, host_name(self[place]))

    def texts(self) -> Iterator[str]:
        """Yield the JSON text of each report as it was added, on one line."""
        for kept in self._whole:
            if isinstance(kept, _Part):  # a line break of JSON is never part of a text
                yield b"".join(map(bytes.strip, kept.read().splitlines())).decode()
            else:
                yield zlib.decompress(kept).decode()

    def whole(self, place: int) -> Report:
        """Return a report as it was added.

        Args:
            place: Its place in the sequence.

        Raises:
            ValueError: Its file has changed.
        """
        kept = self._whole[place]
        return read(Report, kept.read() if isinstance(kept, _Part) else zlib.decompress(kept))


def unread(path: str, reason: str, name: str, shown: str) -> Report:
    """Build the report of a machine whose file cannot be read.

    Args:
        path: The file.
        reason: The reason, in a sentence.
        name: The machine's name.
        shown: The file's name in the report.
    """
    summary = reason.replace(f"'{path}'", f"'{shown}'")
    return _without(name, "REP-001", "the report can be read", summary)


def unreported(host: str) -> Report:
    """Build the report of a machine that was expected and gave none.

    Args:
        host: Its name.
    """
    title = "every machine that is expected has a report"
    return _without(host, "REP-002", title, "there is no report of this machine")


def _without(host: str, check: str, title: str, summary: str) -> Report:
    """Build the report of a machine without one, with the explanation of that finding."""
    known = CLUSTER[check]
    result = CheckResult(
        id=check,
        title=title,
        category="reports",
        status=Status.ERROR,
        seconds=0.0,
        summary=summary,
        causes=known.causes,
        next_step=known.next_step,
    )
    return Report.absent(host, (result,))


class _FleetFile(Struct):
    """The parts of a fleet's file that are read; the others follow from the reports."""

    kind: Literal["fleet"]
    exit_status: ExitStatus
    reports: tuple[Raw, ...]


class _Kind(Struct):
    kind: object = None


def read_reports(path: str) -> Iterator[tuple[Report, _Part | None]]:
    """Read the reports in a file that ``--json`` wrote, of one machine or of a fleet, one by one.

    Args:
        path: The file.

    Yields:
        Each report, and where it can be read again if the file is an ordinary one.

    Raises:
        ValueError: It cannot be read, or holds no report; the message names the file.
    """
    try:
        data, stamp = _content(path)
        try:
            alone = read(Report, data)
        except ValueError:
            if read(_Kind, data).kind is None:
                raise
        else:
            yield alone, stamp and _Part(path, stamp, 0, len(data))
            return
        begin = 0
        for text in map(bytes, read(_FleetFile, data).reports):
            begin = data.index(text, begin)
            yield read(Report, text), stamp and _Part(path, stamp, begin, len(text))
            begin += len(text)
    except OSError as error:
        raise ValueError(f"'{path}' cannot be read: {error.strerror or error}.") from None
    except ValueError as error:
        raise ValueError(f"'{path}' is not a report of pyaclnn doctor: {text_of(error)}.") from None


def _content(path: str) -> tuple[bytes, tuple[int, int, int] | None]:
    """Return a file's content in UTF-8, and its stamp if it is an ordinary file of this."""
    with open_file(path, "a report", most=_LARGEST_FLEET, streams=True) as file:
        ordinary = isinstance(file.raw, io.FileIO)
        stamp = _stamp(file.fileno()) if ordinary else None
        data, largest = file.read(_LARGEST + 1), _LARGEST
        if len(data) > largest and _FLEET_BEGINS.match(data):
            data, largest = data + file.read(_LARGEST_FLEET - len(data) + 1), _LARGEST_FLEET
    if len(data) > largest:
        raise ValueError(f"it is larger than {largest >> 20} MiB")
    encoding = json.detect_encoding(data)
    return (data, stamp) if encoding == "utf-8" else (data.decode(encoding).encode(), None)
