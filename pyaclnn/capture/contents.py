# SPDX-License-Identifier: Apache-2.0
"""Recorded contents by call."""

from __future__ import annotations

import tempfile
from typing import IO, TYPE_CHECKING

from msgspec.structs import replace

from pyaclnn.capture.trace import Absent, Contents, Ended, incomplete, read_trace

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from typing_extensions import Self

    from pyaclnn.capture.trace import Record

__all__ = ["AFTER", "BEFORE", "OF_HOST", "ContentsOf"]

BEFORE, AFTER, OF_HOST = 0, 1, 2
"""When contents were recorded: before the call, after it, or in the memory of the host."""


class ContentsOf:
    """Recorded contents by call; those in full lie in a temporary file."""

    def __init__(self) -> None:
        """Make it without contents."""
        self._by_call: dict[int, list[tuple[Contents, int]]] = {}
        self._absent: dict[int, list[Absent]] = {}
        self._end: Ended | None = None
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed by __exit__

    @classmethod
    def of(cls, path: Path, until: int) -> Self:
        """Read the contents of a trace, of so many bytes of its file."""
        found = cls()
        for record in read_trace(path, until):
            found.add(record)
        return found

    def add(self, record: Record) -> None:
        """Keep a record, if it is of contents or of the end."""
        if isinstance(record, Ended):
            self._end = record
        elif isinstance(record, Absent):
            self._absent.setdefault(record.call, []).append(record)
        elif isinstance(record, Contents):
            place = -1
            if record.data is not None:
                place = self._file.seek(0, 2)
                self._file.write(record.data)
            kept = (replace(record, data=None), place)
            self._by_call.setdefault(record.call, []).append(kept)

    def __enter__(self) -> Self:
        """Return it; the temporary file is closed at the end."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the temporary file."""
        self._file.close()

    def take(self, call: int, phase: int) -> list[Contents]:
        """Return the contents of a call before it, after it, or of the host."""
        found = []
        for contents, place in self._by_call.get(call, ()):
            if contents.phase == phase:
                data = None
                if place >= 0:
                    self._file.seek(place)
                    data = self._file.read(contents.size)
                found.append(replace(contents, data=data))
        return found

    def given(self, calls: Iterable[int]) -> int:
        """Return a number that calls share only with those of the same inputs; 0: without any."""
        return sum(
            hash((contents.name, contents.element, contents.size, contents.hash))
            for call in calls
            for contents, _ in self._by_call.get(call, ())
            if contents.phase != AFTER
        )

    @property
    def incomplete(self) -> str:
        """Why the trace lacks calls; empty if it lacks none."""
        return incomplete(self._end)

    def absent(self, call: int, phase: int) -> list[Absent]:
        """Return the contents of a call that the recorder could not record, with the reasons."""
        return [each for each in self._absent.get(call, ()) if each.phase == phase]
