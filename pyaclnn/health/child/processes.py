# SPDX-License-Identifier: Apache-2.0
"""Processes and their ends: signals, orphans and descendants; nothing that was started outlives it.

A child adopts its orphans, so its descendants stay below it in the tree of processes until it ends,
also those that began a session of their own. It reports them with each step, and its parent looks
for more. Processes that are started at the very end become children of the command, which adopts
orphans too.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from pyaclnn.base.locks import reentrant_lock

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator, Mapping
    from types import FrameType

    from pyaclnn.health.report.record import Report

__all__ = [
    "Descendants",
    "Interrupted",
    "Terminated",
    "below",
    "end_with_parent",
    "signal_name",
    "terminable",
]

_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP)
_PR_SET_PDEATHSIG: Final = 1
_PR_SET_CHILD_SUBREAPER: Final = 36
_PR_GET_CHILD_SUBREAPER: Final = 37


class Terminated(BaseException):
    """A signal asked the process to end.

    Attributes:
        name: The signal, e.g. ``SIGTERM``.
        status: The exit status for it, as in a shell.
        report: The results until then, if there are any.
    """

    report: Report | None = None

    def __init__(self, number: int) -> None:
        self.name = signal_name(number)
        self.status = 128 + number
        super().__init__(self.name)


class Interrupted(KeyboardInterrupt):
    """The user pressed Ctrl-C.

    Attributes:
        report: The results until then.
    """

    def __init__(self, report: Report) -> None:
        self.report = report
        super().__init__()


def signal_name(number: int) -> str:
    """Return a signal's name, e.g. ``SIGSEGV``, or its number in words if it has none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@contextlib.contextmanager
def terminable() -> Iterator[None]:
    """Have SIGTERM and SIGHUP raise, as Ctrl-C does; a signal that is ignored stays ignored.

    Meanwhile this process adopts the orphans of its children, and can end them.

    Yields:
        Nothing.

    Raises:
        Terminated: One of the signals arrived.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    changed = {number: old for number, old in before.items() if old is signal.SIG_DFL}

    def end(number: int, _: FrameType | None) -> None:
        # A second signal must not interrupt the clean-up after the first.
        for other in changed:
            signal.signal(other, signal.SIG_IGN)
        raise Terminated(number)

    try:
        for number in changed:
            signal.signal(number, end)
        _adopt_orphans(adopt=True)
        yield
    finally:
        _adopt_orphans(adopt=False)
        for number, old in changed.items():
            signal.signal(number, old)


def adopts_orphans() -> bool:
    """Return whether orphaned descendants become children of this process."""
    answer = ctypes.c_int(0)
    _prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(answer))
    return bool(answer.value)


def end_with_parent(parent: int) -> None:
    """Have the kernel end this process with the thread that started it, and adopt orphans.

    Args:
        parent: The process of that thread.
    """
    _prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL))
    _adopt_orphans(adopt=True)
    if os.getppid() != parent:  # it ended before the kernel knew
        sys.exit(1)


def _adopt_orphans(*, adopt: bool) -> None:
    _prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(adopt))


def _prctl(option: int, argument: Any) -> None:
    """Call prctl for this process; without it, processes are left to the system."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, argument, *map(ctypes.c_ulong, (0, 0, 0)))


_POLL: Final = 0.05
_LONGEST: Final = 200


class Descendants:
    """The descendants of one process, as far as they were seen.

    Args:
        start: Starts the process.

    Attributes:
        root: The process.
    """

    _lock: ClassVar = reentrant_lock()
    _roots: ClassVar[set[int]] = set()

    def __init__(self, start: Callable[[], subprocess.Popen[bytes]]) -> None:
        with self._lock:
            self._before = set(_children(os.getpid()))
            self.root = start()
            self._roots.add(self.root.pid)
        self._seen: dict[int, str] = {}

    def look(self) -> None:
        """Record the processes that exist now."""
        self.notice(below(self.root.pid))

    def notice(self, births: Mapping[int, str]) -> None:
        """Record processes that somebody else saw, as `below` returns them."""
        self._seen = {**births, **self._seen}

    def end(self, patience: float) -> tuple[str, ...]:
        """End the descendants that outlive the process.

        Args:
            patience: Seconds in which they may end by themselves.

        Returns:
            Process id and command line of each that had to be ended.
        """
        until = time.monotonic() + patience
        while (left := self._living()) and time.monotonic() < until:
            time.sleep(_POLL)
        texts = tuple(f"{pid} {_command(pid)}".strip() for pid in left)
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        for pid in self._seen:
            with contextlib.suppress(ChildProcessError):  # most have another parent
                os.waitpid(pid, 0 if pid in left else os.WNOHANG)
        return texts

    def _living(self) -> list[int]:
        self._adopt()
        # A reused process id has another time of birth.
        return [pid for pid, birth in self._seen.items() if _birth(pid) == birth]

    def _adopt(self) -> None:
        """Record orphans that became children of this process since the child was started."""
        if not adopts_orphans():
            return  # children of this process belong to others
        with self._lock:
            known = self._before | self._roots
            fresh = [pid for pid in _children(os.getpid()) if pid not in known]
        for pid in fresh:
            birth = _birth(pid)
            # Programs that this process itself starts belong to its session.
            if birth is not None and _session(pid) != os.getsid(0):
                self._seen.setdefault(pid, birth)
        self.notice(below(*self._seen))


def below(*pids: int) -> dict[int, str]:
    """Return the living descendants of processes.

    Args:
        pids: The processes.

    Returns:
        The time of birth of each, in the kernel's clock ticks; it identifies a process together
        with its id, which may be reused.
    """
    births: dict[int, str] = {}
    pending = [*pids]
    while pending:
        for child in _children(pending.pop()):
            birth = _birth(child)
            if birth is not None:
                births[child] = birth
                pending.append(child)
    return births


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208  # four times a second
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:  # noqa: PTH123
                found += map(int, file.read().split())
    return found


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return 0


def _birth(pid: int) -> str | None:
    """Return the time of birth of a process; None if it has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123  # four times a second
            state, *rest = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if state in {b"Z", b"X"} else rest[18].decode()


def _command(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
    except OSError:
        return ""
    return words.decode(errors="replace")[:_LONGEST]
