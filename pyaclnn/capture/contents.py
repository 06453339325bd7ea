# SPDX-License-Identifier: Apache-2.0
"""Recorded contents by call, and ranges of addresses: what a replay looks up."""

from __future__ import annotations

import bisect
import tempfile
from typing import IO, TYPE_CHECKING

from pyaclnn.capture.trace import Contents, read_trace

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Self

__all__ = ["AFTER", "BEFORE", "OF_HOST", "ContentsOf", "Places"]

BEFORE, AFTER, OF_HOST = 0, 1, 2
"""When contents were recorded: before the call, after it, or in the memory of the host."""


class ContentsOf:
    """Recorded contents by call; those in full lie in a temporary file."""

    def __init__(self, path: Path) -> None:
        """Read the contents of a trace."""
        self._by_call: dict[int, list[tuple[Contents, int]]] = {}
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed by __exit__
        for record in read_trace(path):
            if isinstance(record, Contents):
                place = -1
                if record.data is not None:
                    place = self._file.seek(0, 2)
                    self._file.write(record.data)
                self._by_call.setdefault(record.call, []).append(
                    (record._replace(data=None), place)
                )

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
                found.append(contents._replace(data=data))
        return found


class Places:
    """Ranges of addresses of the traced program, and where they are here."""

    def __init__(self) -> None:
        self._begins: list[int] = []
        self._rest: dict[int, tuple[int, int]] = {}

    def add(self, begin: int, size: int, here: int) -> None:
        """Note that a range lies elsewhere here."""
        if begin not in self._rest:
            bisect.insort(self._begins, begin)
        self._rest[begin] = (size, here)

    def remove(self, begin: int) -> None:
        """Forget the range that begins there, if one does."""
        if self._rest.pop(begin, None) is not None:
            self._begins.remove(begin)

    def find(self, address: int) -> int | None:
        """Return where an address of the traced program is here; None if it is in no range."""
        place = bisect.bisect_right(self._begins, address) - 1
        if place < 0:
            return None
        begin = self._begins[place]
        size, here = self._rest[begin]
        return here + address - begin if address < begin + max(size, 1) else None
