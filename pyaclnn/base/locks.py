# SPDX-License-Identifier: Apache-2.0
"""Locks that a forked child does not inherit in the hands of a thread that it does not have."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
import weakref
from typing import TYPE_CHECKING, Any, Final

__all__ = ["cached_property", "reentrant_lock"]

_known: Final[weakref.WeakSet[Any]] = weakref.WeakSet()


def reentrant_lock() -> Any:
    """Return a lock like ``threading.RLock``, which is free in a forked child.

    It stays with the thread that forked, if that had it. It is re-entrant because a signal handler
    may come back to where it is held.
    """
    lock: Any = threading.RLock()
    _known.add(lock)
    return lock


def _renew() -> None:
    for lock in list(_known):
        if not lock._is_owned():  # noqa: SLF001  # as in threading.Condition
            lock._at_fork_reinit()  # noqa: SLF001  # as the standard library renews its own


os.register_at_fork(after_in_child=_renew)

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801  # Python's name for it
        """A cached property without a lock, as in Python 3.12; two threads may both compute it."""

        def __init__(self, function: Any) -> None:
            super().__init__(function)
            self.lock = contextlib.nullcontext()
