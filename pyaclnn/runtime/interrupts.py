# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C that arrives while a finalizer of this package runs.

Python ignores exceptions out of finalizers, KeyboardInterrupt among them. A program that drops
arrays, streams and events in a loop spends much of its time in their finalizers, and most Ctrl-C
would be lost there. They are sent again, until one arrives outside of a finalizer.
"""

from __future__ import annotations

import _thread
import signal
import sys
import threading
import time
import weakref
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Finalizer"]

_PACKAGE: Final = str(Path(__file__).parents[1])
_PAUSE: Final = 0.001
"""Seconds until a lost Ctrl-C is sent again: most finalizers have ended by then."""


class Finalizer(weakref.finalize):  # type: ignore[type-arg]  # no generic class when it runs
    """Finalizer of an object of this package."""

    __slots__ = ()


def _is_ours(finalizer: object) -> bool:
    return isinstance(finalizer, Finalizer) or (
        isinstance(finalizer, FunctionType) and finalizer.__code__.co_filename.startswith(_PACKAGE)
    )


def _send_again() -> None:
    """Send Ctrl-C to the main thread, from another one: here a finalizer is still running."""
    time.sleep(_PAUSE)
    # A signal, and not only a note for the interpreter: it also ends a wait of the system.
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def _installed_before(before: Callable[[sys.UnraisableHookArgs], object]) -> None:
    """Set the hook for exceptions that Python ignores; the hook that was set gets all others."""

    def hook(ignored: sys.UnraisableHookArgs) -> None:
        if (
            issubclass(ignored.exc_type, KeyboardInterrupt)
            and _is_ours(ignored.object)
            and threading.current_thread() is threading.main_thread()
            and callable(signal.getsignal(signal.SIGINT))
        ):
            # Not threading.Thread, whose lock the interrupted code may hold.
            _thread.start_new_thread(_send_again, ())
        else:
            before(ignored)

    sys.unraisablehook = hook


_installed_before(sys.unraisablehook)
