# SPDX-License-Identifier: Apache-2.0
"""What a child started in its turn, also if it began a session of its own to get away.

The child adopts its orphans (see `termination`), so whatever descends from it stays below it in the
tree of processes until it ends itself; who watches it from outside has seen them by then.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import Final

__all__ = ["Descendants"]

_POLL: Final = 0.05
_LONGEST: Final = 200


class Descendants:
    """The processes below one process, as far as they were seen.

    Args:
        pid: The process.
    """

    def __init__(self, pid: int) -> None:
        self._root = pid
        self._seen: dict[int, str] = {}

    def look(self) -> None:
        """Take notice of those that are there now."""
        pending = [self._root]
        while pending:
            for child in _children(pending.pop()):
                born = _born(child)
                if born is not None:
                    self._seen.setdefault(child, born)
                    pending.append(child)

    def end(self, patience: float) -> tuple[str, ...]:
        """End those that outlive the process.

        Args:
            patience: Seconds in which they may end by themselves.

        Returns:
            Number and command line of each that had to be ended.
        """
        until = time.monotonic() + patience
        while (left := self._living()) and time.monotonic() < until:
            time.sleep(_POLL)
        said = tuple(f"{pid} {_command(pid)}".strip() for pid in left)
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        return said

    def _living(self) -> list[int]:
        # A number may be somebody else's by now: then its time of birth is another.
        return [pid for pid, born in self._seen.items() if _born(pid) == born]


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for path in Path(f"/proc/{pid}/task").glob("*/children"):
            found += map(int, path.read_text(encoding="ascii").split())
    return found


def _born(pid: int) -> str | None:
    """When a process began, in the kernel's own measure; None if it has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    state, *rest = text.rpartition(")")[2].split()
    return None if state in {"Z", "X"} else rest[18]


def _command(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
    except OSError:
        return ""
    return words.decode(errors="replace")[:_LONGEST]
