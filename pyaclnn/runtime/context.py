# SPDX-License-Identifier: Apache-2.0
"""The context that CANN keeps for each thread, made right around a call and put back after it.

CANN looks up the device of most calls in the calling thread's current context. Objects of this
library remember their context, so they work from any thread, and a host application finds its own
context current again afterwards.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from pyaclnn.cann.gate import OUT, call, cleanup, fetch, give_back, report, silence
from pyaclnn.cann.status import code_named
from pyaclnn.errors import AclError, ContextError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.cann.raw import Pointer

__all__ = [
    "Activation",
    "cleanup_in",
    "context_before",
    "current_context",
    "give_back_in",
    "restore_context",
]


def current_context() -> Pointer | None:
    """Return the calling thread's current context, or None. Drives ``aclrtGetCurrentContext``."""
    try:
        return fetch("aclrtGetCurrentContext", OUT)
    except ContextError as error:
        if error.code != code_named("ACL_ERROR_RT_CONTEXT_NULL"):
            raise
        return None


class Activation:
    """Makes a context current on this thread for the length of a ``with`` statement.

    A thread that had no context before keeps this one: CANN has no way to take it back.
    Drives ``aclrtGetCurrentContext`` and ``aclrtSetCurrentContext``.
    """

    __slots__ = ("_context", "_previous")

    def __init__(self, context: Pointer) -> None:
        """Prepare to make ``context`` current."""
        self._context = context
        self._previous: Pointer | None = None

    def __enter__(self) -> None:
        previous = current_context()
        if previous != self._context:
            call("aclrtSetCurrentContext", self._context)
            self._previous = previous

    def __exit__(self, *failure: object) -> None:
        if self._previous is not None:
            cleanup("aclrtSetCurrentContext", self._previous)
            self._previous = None


def restore_context(previous: Pointer | None) -> None:
    """Make ``previous`` current again if it was there and is not now.

    Args:
        previous: What ``current_context`` returned earlier on this thread; must still exist.
    """
    if previous is not None and current_context() != previous:
        call("aclrtSetCurrentContext", previous)


def context_before() -> Pointer | None:
    """Return what ``current_context`` does, where raising is impossible.

    Returns:
        None as well if CANN does not say, which is a ``CleanupWarning``.
    """
    try:
        return current_context()
    except AclError as failure:
        report(f"the context of this thread is not known, and is not put back: {failure}")
        return None


def cleanup_in(context: Pointer, name: str, *arguments: object) -> None:
    """Call a releasing function with ``context`` current; never raises, like ``cleanup``."""
    _with(context, functools.partial(cleanup, name, *arguments))


def give_back_in(context: Pointer, name: str, slot: Pointer) -> None:
    """Release the object that a slot holds with ``context`` current, like ``give_back``."""
    _with(context, functools.partial(give_back, name, slot))


def _with(context: Pointer, release: Callable[[], None]) -> None:
    if silence.finalised:
        return
    previous = context_before()
    if previous != context:
        cleanup("aclrtSetCurrentContext", context)
    release()
    if previous is not None and previous != context:
        cleanup("aclrtSetCurrentContext", previous)
