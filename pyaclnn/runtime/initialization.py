# SPDX-License-Identifier: Apache-2.0
"""The CANN runtime of this process: initialised once, on first need, and only ended if it is ours.

At interpreter exit finalizers run newest first, so every handle is released before the device it
needs, and the runtime, whose finalizer is the oldest, ends last.
"""

from __future__ import annotations

import atexit
import os
import weakref
from typing import Final

from pyaclnn.base.locks import reentrant_lock
from pyaclnn.cann.gate import call, cleanup, refuse_if_forked, silence
from pyaclnn.cann.raw import NULL

__all__ = ["ensure_runtime", "owns_runtime"]


class _Runtime:
    """The state of the one runtime; the object whose finalizer ends it."""

    def __init__(self) -> None:
        self.lock = reentrant_lock()
        self.ready = False
        self.owned = False


_runtime: Final = _Runtime()


def ensure_runtime() -> None:
    """Initialize CANN, unless the process has done so.

    If ``aclInit`` answers that it is initialized already, the process belongs to a host
    application, and nothing will be finalized here. Drives ``aclInit`` and, at exit,
    ``aclFinalize``.

    Raises:
        AclError: CANN could not be initialised.
        ContextError: This process was forked from one that had initialised CANN.
    """
    if _runtime.ready:
        return
    with _runtime.lock:
        refuse_if_forked("aclInit")
        if not _runtime.ready:
            _runtime.owned = _initialise()
            weakref.finalize(_runtime, _finalise, _runtime.owned)
            atexit.register(_leave, _runtime.owned)
            _runtime.ready = True


def owns_runtime() -> bool:
    """Return whether CANN was initialised by this library, and is finalised by it."""
    return _runtime.owned


def _initialise() -> bool:
    return call("aclInit", NULL, accepted="ACL_ERROR_REPEAT_INITIALIZE")


def _leave(owned: bool) -> None:
    # A host application may have torn CANN down before the interpreter ends: what fails from here
    # on is no news to anybody.
    silence.reports = owned


def _finalise(owned: bool) -> None:
    if owned:
        cleanup("aclFinalize")
    silence.finalised = True


def _after_fork() -> None:
    # The devices stay with the parent, and so do the handles that this copy remembers.
    if _runtime.ready:
        silence.finalised = True
        silence.forked = True
        _runtime.ready = False


os.register_at_fork(after_in_child=_after_fork)
