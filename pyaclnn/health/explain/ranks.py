# SPDX-License-Identifier: Apache-2.0
"""First failure of a run with many ranks, by the times in their logs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Final

from pyaclnn.base.files import open_file
from pyaclnn.health.explain.log import CHATTER, Log

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = ["Rank", "files_of", "lines_of", "read_ranks"]

_LARGEST_LOG: Final = 1 << 50
_LONGEST_LINE: Final = 1 << 16
_MOST_LINES: Final = 2000
"""Number of lines behind the first failure of a rank that are explained."""
_RANK: Final = re.compile(r"\[rank ?(\d+)\]|(?<!remote )\b[Rr]ank_?[Ii][Dd][\[:= ]{1,2}(\d+)")
_TIME: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[-T ](\d\d):(\d\d):(\d\d)(?:[.,:](\d+))?(?:\.(\d+))?"
)
_FAILURE: Final = re.compile(
    r"\[(?:ERROR|CRITICAL|FATAL)\]|\b[A-Z]\w*(?:Error|Exception)\b:|\bE[A-Z]\d{4}\b"
    r"|error code is \[?\d|core dumped|Segmentation fault|\bKilled\b|signal \d"
)
_CARRIAGE_RETURN: Final = re.compile(rb"\r(?!\n)")
_DIGITS: Final = 6
"""Decimals of the seconds of a time."""


@dataclass
class Rank:
    """Log of one rank.

    Attributes:
        name: The file, and the rank if its lines name it.
        failed: The time of the first line that reports a failure; empty if none does, or if no
            line up to there has a time.
        line: That line; empty if there is none.
        ended: The time of the last line that has one.
        log: The lines from there on.
    """

    name: str
    failed: str = ""
    line: str = ""
    ended: str = ""
    log: Log = field(default_factory=Log)
    _left: int = _MOST_LINES

    def read(self, line: str) -> None:
        """Read a line.

        Args:
            line: The line.
        """
        time = _time_in(line)
        self.ended = max(self.ended, time)
        if not self.line and _FAILURE.search(line) and not CHATTER.match(line):
            self.failed, self.line = time or self.ended, line.strip()
        if self.line and self._left:
            self._left -= 1
            self.log.read([line])


def read_ranks(paths: Iterable[Path]) -> list[Rank]:
    """Read the logs of a run.

    Args:
        paths: The files, of one rank each or with lines that name their ranks.

    Returns:
        Those that failed first, by time; behind them those without a time, and those that did not.

    Raises:
        OSError: A file cannot be read.
        ValueError: A file is none that can be read.
    """
    found: dict[tuple[Path, str], Rank] = {}
    for path in paths:
        rank = ""
        with open_file(str(path), "a log", most=_LARGEST_LOG) as file:
            for line in lines_of(file):
                match = _RANK.search(line)
                # A line without a rank continues the one before it, such as a traceback.
                rank = next(filter(None, match.groups()), "") if match else rank
                name = f"{path}, rank {rank}" if rank else str(path)
                found.setdefault((path, rank), Rank(name)).read(line)
    return sorted(found.values(), key=_order)


def _order(rank: Rank) -> tuple[bool, bool, str]:
    return not rank.line, not rank.failed, rank.failed or rank.ended


def files_of(path: Path) -> Iterator[Path]:
    """Yield a file, or the files below a folder in the order of their names.

    Args:
        path: The file or folder.
    """
    if path.is_dir():
        yield from sorted(file for file in path.rglob("*") if file.is_file())
    else:
        yield path


def lines_of(file: IO[bytes]) -> Iterator[str]:
    """Yield the lines of a file of bytes; one without an end is cut.

    A carriage return ends a line as well: a progress bar writes its turns over each other by it.

    Args:
        file: The file.
    """
    begun = b""
    for part in iter(lambda: file.readline(_LONGEST_LINE), b""):
        *turns, last = _CARRIAGE_RETURN.split(begun + part)
        is_cut = bool(turns) and not last.endswith(b"\n")
        for turn in turns if is_cut else (*turns, last):
            yield turn.decode(errors="replace")
        begun = last if is_cut else b""
    if begun:
        yield begun.decode(errors="replace")


def _time_in(line: str) -> str:
    """Return the time in a line, in a form that sorts; empty if there is none."""
    match = _TIME.search(line)
    if match is None:
        return ""
    year, month, day, hour, minute, second, *rest = match.groups()
    decimals = "".join(filter(None, rest))[:_DIGITS].ljust(_DIGITS, "0")
    return f"{year}-{month}-{day} {hour}:{minute}:{second}.{decimals}"
