# SPDX-License-Identifier: Apache-2.0
"""What a child started in its turn, also if it began a session of its own to get away.

The child adopts its orphans (see `termination`), so whatever descends from it stays below it in the
tree of processes until it ends itself. It tells of them with each step that it notes, and who
watches it from outside sees more of them by then; what was started at the very end comes to the
command, which adopts orphans too.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from pyaclnn.health.child.termination import adopts_orphans

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping

__all__ = ["Descendants", "below"]

_POLL: Final = 0.05
_LONGEST: Final = 200


class Descendants:
    """The processes below one process, as far as they were seen.

    Args:
        start: Starts the process.

    Attributes:
        root: The process.
    """

    _lock: ClassVar = threading.Lock()
    _roots: ClassVar[set[int]] = set()

    def __init__(self, start: Callable[[], subprocess.Popen[bytes]]) -> None:
        with self._lock:
            self._before = set(_children(os.getpid()))
            self.root = start()
            self._roots.add(self.root.pid)
        self._seen: dict[int, str] = {}

    def look(self) -> None:
        """Take notice of those that are there now."""
        self.notice(below(self.root.pid))

    def notice(self, those: Mapping[int, str]) -> None:
        """Take notice of those that somebody saw.

        Args:
            those: When each of the processes began, as `below` tells it.
        """
        self._seen = {**those, **self._seen}

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
        for pid in self._seen:
            with contextlib.suppress(ChildProcessError):  # most are somebody else's to collect
                os.waitpid(pid, 0 if pid in left else os.WNOHANG)
        return said

    def _living(self) -> list[int]:
        self._adopt()
        # A number may be somebody else's by now: then its time of birth is another.
        return [pid for pid, born in self._seen.items() if _born(pid) == born]

    def _adopt(self) -> None:
        """Take notice of orphans that have come to this process since the child was started."""
        if not adopts_orphans():
            return  # children of this process are somebody else's
        with self._lock:
            ours = self._before | self._roots
            fresh = [pid for pid in _children(os.getpid()) if pid not in ours]
        for pid in fresh:
            born = _born(pid)
            # What this process starts itself, to ask it something, is of its own session.
            if born is not None and _session(pid) != os.getsid(0):
                self._seen.setdefault(pid, born)
        self.notice(below(*self._seen))


def below(*pids: int) -> dict[int, str]:
    """Tell what descends from processes and is alive.

    Args:
        pids: The processes.

    Returns:
        When each began, in the kernel's own measure, which tells it from a later one of its number.
    """
    found: dict[int, str] = {}
    pending = [*pids]
    while pending:
        for child in _children(pending.pop()):
            born = _born(child)
            if born is not None:
                found[child] = born
                pending.append(child)
    return found


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for path in Path(f"/proc/{pid}/task").glob("*/children"):
            found += map(int, path.read_text(encoding="ascii").split())
    return found


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return 0


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
