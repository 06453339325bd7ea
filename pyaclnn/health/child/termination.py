# SPDX-License-Identifier: Apache-2.0
"""Coming to an orderly end: nothing that was started may outlive the process that started it."""

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
    "adopt_orphans",
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
    """Somebody asked the process to end.

    Attributes:
        name: By which signal, e.g. ``SIGTERM``.
        status: The exit status that says so, as in a shell.
        report: What had been found until then, if whoever was ended tells it.
    """

    report: Report | None = None

    def __init__(self, number: int) -> None:
        self.name = signal_name(number)
        self.status = 128 + number
        super().__init__(self.name)


class Interrupted(KeyboardInterrupt):
    """Somebody pressed Ctrl-C.

    Attributes:
        report: What had been found until then.
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
    """Have SIGTERM and SIGHUP raise, as Ctrl-C does; a signal that is ignored stays so.

    Meanwhile orphans of the children come to this process, which ends them.

    Yields:
        Nothing.

    Raises:
        Terminated: One of them came.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    changed = {number: old for number, old in before.items() if old is signal.SIG_DFL}

    def end(number: int, _: FrameType | None) -> None:
        # A second one must not interrupt what the first one set going.
        for other in changed:
            signal.signal(other, signal.SIG_IGN)
        raise Terminated(number)

    try:
        for number in changed:
            signal.signal(number, end)
        adopt_orphans()
        yield
    finally:
        adopt_orphans(adopt=False)
        for number, old in changed.items():
            signal.signal(number, old)


def adopt_orphans(*, adopt: bool = True) -> None:
    """Have the kernel make this process the parent of all that descends from it and is orphaned.

    Args:
        adopt: Whether to do so from now on, or no longer.
    """
    _prctl(_PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(adopt))


def adopts_orphans() -> bool:
    """Tell whether `adopt_orphans` was called in this process."""
    answer = ctypes.c_int(0)
    _prctl(_PR_GET_CHILD_SUBREAPER, ctypes.byref(answer))
    return bool(answer.value)


def end_with_parent(parent: int) -> None:
    """Have the kernel end this process when the thread ends that started it.

    What this process starts stays below it, whoever starts it in between and ends.

    Args:
        parent: The process of that thread.
    """
    _prctl(_PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGKILL))
    adopt_orphans()
    if os.getppid() != parent:  # it ended before it could be asked for
        sys.exit(1)


def _prctl(option: int, argument: Any) -> None:
    """Ask the kernel for something about this process; where it cannot be asked, nothing is."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, argument, *map(ctypes.c_ulong, (0, 0, 0)))
