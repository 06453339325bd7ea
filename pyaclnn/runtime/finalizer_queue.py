# SPDX-License-Identifier: Apache-2.0
"""Queue of releases that finalizers ask for, and the counters of live C objects.

A finalizer runs wherever a garbage collection happens, on a thread that may be in the midst of
anything. It only adds an entry if its thread uses the queue itself at that moment; the entry is
processed after that. An exception of a signal handler can interrupt each step, and the step can be
repeated.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from typing import TYPE_CHECKING, Any, Final, Protocol

from pyaclnn.base.locks import reentrant_lock

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FINALIZER_QUEUE", "Due", "FinalizerQueue"]


_PAUSE: Final = 1.0
"""Seconds between two attempts to process postponed entries."""


class Due(Protocol):
    """Entry of the queue."""

    def proceed(self) -> None:
        """Go as far as possible; may be called again at any time, but by one thread at a time."""


class _Turn(threading.local):
    """Lock of each thread, held while the thread processes entries."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


class FinalizerQueue:
    """The queue of this process, and its counters of live C objects.

    Attributes:
        note_in_c: Adds an entry, as the callback of a weak reference: a C function, which no signal
            handler interrupts. The entry is processed after the next one.
        lock: Held for a few steps where several things change together, by handles, timelines and
            pools alike. Nothing is called under it that could wait or run foreign code.
    """

    def __init__(self) -> None:
        # Re-entrant: a signal handler may come back here.
        self.lock = reentrant_lock()
        self._due: list[Due] = []
        self._postponed: list[Due] = []
        self._resume_at = 0.0
        self.note_in_c: Callable[[Any], None] = self._due.append
        self._claims: dict[int, int] = {}
        self._live: dict[str, set[int]] = {}
        self._turn = _Turn()

    def born(self, kind: str, thing: object) -> None:
        """Count a C object as alive."""
        self._live.setdefault(kind, set()).add(id(thing))

    def gone(self, kind: str, thing: object) -> None:
        """Count a C object as released; twice is once."""
        self._live.get(kind, set()).discard(id(thing))

    def living(self) -> dict[str, int]:
        """Count the live C objects by kind."""
        self.resume()
        self.settle()
        return {kind: len(things) for kind, things in sorted(self._live.items()) if things}

    def note(self, *items: Due) -> None:
        """Add entries without processing them."""
        self._due += items

    def due(self, item: Due) -> None:
        """Add an entry, and process it unless this thread is busy."""
        self._due.append(item)
        if self._postponed and time.monotonic() >= self._resume_at:
            self.resume()
        self.settle()

    def postpone(self, item: Due) -> None:
        """Add an entry that cannot be processed now; it is tried again from time to time."""
        self._postponed.append(item)
        self._resume_at = time.monotonic() + _PAUSE

    def resume(self) -> None:
        """Have postponed entries processed with the next ones."""
        # In this order nothing is lost, wherever it is interrupted and whatever other threads do;
        # what comes twice is done once.
        moved = self._postponed.copy()
        self._due += moved
        for item in moved:
            with contextlib.suppress(ValueError):
                self._postponed.remove(item)

    def settle(self) -> None:
        """Process all entries, unless this thread uses the queue already."""
        while self._due and not self.lock._is_owned():  # noqa: SLF001  # as in threading.Condition
            turn = self._turn.lock
            if turn.locked():  # a finalizer, or a signal handler, of what is dealt with here
                return
            with turn:
                moved = [self._deal_with(item) for item in self._due.copy()]
            if not any(moved):
                return

    def _deal_with(self, item: Due) -> bool:
        """Process one entry; return whether that was for this thread to do."""
        mine = threading.get_ident()
        # One step, so that it needs no lock; a claim of this thread is one an interrupt has left.
        if self._claims.setdefault(id(item), mine) != mine:
            return False
        try:
            item.proceed()
        finally:
            self._claims.pop(id(item), None)
        try:
            self._due.remove(item)
        except ValueError:  # another thread was faster
            return False
        return True

    def renew(self) -> None:
        """Start anew in a forked child: a thread that is not there may have had a turn."""
        self._turn = _Turn()
        self._claims.clear()


FINALIZER_QUEUE: Final = FinalizerQueue()

os.register_at_fork(after_in_child=FINALIZER_QUEUE.renew)
