# SPDX-License-Identifier: Apache-2.0
"""Orderly termination: nothing that a process started outlives it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from pyaclnn.health.report.record import Report

__all__ = [
    "Interrupted",
    "Terminated",
    "adopts_orphans",
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
