# SPDX-License-Identifier: Apache-2.0
"""Location of a process in the vendor's code at a crash, or on request while it hangs."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Final, NamedTuple

from pyaclnn._binding import lib

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["QUESTION", "Place", "note_faults", "places_in", "routine_in"]

QUESTION: Final = signal.SIGRTMAX - 5
"""The signal upon which a process writes down where it is, and goes on."""

_OURS: Final = ("_binding.", "python", "libpython")
_LOADER: Final = ("libc.so", "libc-", "ld-linux", "libpthread", "libgcc_s", "[")


class Place(NamedTuple):
    """A place in the code of a process."""

    path: str
    """The file it was loaded from."""
    offset: int
    """Bytes from the file's start."""

    def __str__(self) -> str:
        return f"{self.path.rpartition('/')[2]}+{self.offset:#x}"


def note_faults(path: Path) -> None:
    """Have this process write where it is into a file when a signal ends it, or `QUESTION` comes.

    Args:
        path: The file, which is emptied.

    Raises:
        OSError: It cannot be written.
    """
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_CLOEXEC, 0o600)
    failed = lib.binding_note_faults(file, QUESTION)
    if failed:
        raise OSError(failed, os.strerror(failed))


def routine_in(text: str) -> str | None:
    """Return the routine that a launch had called and that had not returned, if there is one.

    Args:
        text: The text that `note_faults` wrote.
    """
    return next((line[3:] for line in text.splitlines() if line.startswith("in ")), None)


def places_in(text: str) -> list[Place]:
    """Return where the vendor's code was: the innermost place first, that of its callers behind.

    The C library and the interpreter are left out, unless there is nothing else.

    Args:
        text: The text that `note_faults` wrote.
    """
    lines = text.partition("end\n")[0].splitlines()
    addresses = [int(line[3:], 16) for line in lines if line.startswith("at ")]
    maps = [span for line in lines for span in _span(line)]
    if not addresses:
        return []
    own, *stack = addresses
    # A return address is behind the call, perhaps behind the end of the function.
    callers = stack[stack.index(own) + 1 :] if own in stack else stack
    found = [p for a in (own, *(address - 1 for address in callers)) for p in _within(maps, a)]
    theirs = [place for place in found if not _is_of(place, (*_OURS, *_LOADER))]
    return theirs or [place for place in found if not _is_of(place, _OURS)] or found


def _is_of(place: Place, names: tuple[str, ...]) -> bool:
    return place.path.rpartition("/")[2].startswith(names)


def _span(line: str) -> Iterator[tuple[int, int, int, str]]:
    words = line.split(maxsplit=5)
    if len(words) == 6 and "-" in words[0]:  # noqa: PLR2004  # a line of the map that has a name
        low, high = (int(end, 16) for end in words[0].split("-"))
        yield low, high, int(words[2], 16), words[5]


def _within(maps: list[tuple[int, int, int, str]], address: int) -> Iterator[Place]:
    for low, high, offset, path in maps:
        if low <= address < high:
            yield Place(path, address - low + offset)
