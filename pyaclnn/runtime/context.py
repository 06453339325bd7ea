# SPDX-License-Identifier: Apache-2.0
"""The context that CANN keeps for each thread, made right around a call and put back after it.

CANN looks up the device of most calls in the calling thread's current context. Objects of this
library remember their context, so they work from any thread, and a host application finds its own
context current again afterwards.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from pyaclnn.base.errors import AclError
from pyaclnn.cann import raw
from pyaclnn.cann.gate import (
    call,
    cleanup,
    give_back,
    hold,
    let_go,
    report,
    silence,
)
from pyaclnn.runtime.handle import Resource

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.cann.raw import Pointer

__all__ = [
    "Activation",
    "Guest",
    "cleanup_in",
    "context_before",
    "current_context",
    "give_back_in",
    "is_gone",
    "restore_context",
]


def current_context() -> Pointer | None:
    """Return the calling thread's current context, or None. Drives ``aclrtGetCurrentContext``."""
    found = raw.ffi.new("void **")
    there = call("aclrtGetCurrentContext", found, accepted="ACL_ERROR_RT_CONTEXT_NULL")
    return found[0] if there else None


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
        if previous == self._context:
            return
        self._previous = previous
        try:
            call("aclrtSetCurrentContext", self._context)
        except AclError:
            self._previous = None
            raise

    def __exit__(self, *failure: object) -> None:
        if self._previous is not None:
            cleanup("aclrtSetCurrentContext", self._previous)
            self._previous = None

    def __del__(self) -> None:
        # An exception out of a signal handler came before, or between.
        if getattr(self, "_previous", None) is not None:
            self.__exit__()


def restore_context(previous: Pointer | None) -> None:
    """Make ``previous`` current again if it was there and is not now.

    Args:
        previous: Earlier result of ``current_context`` on this thread; must still exist.
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


class Guest(Resource):
    """Context of a device that another owner has opened, and may reset at any time.

    Whatever was there is gone with it, and its addresses may belong to others: nothing of it is
    given back then. CANN has no question for this, but a thread can look which context is the
    device's.
    """

    __slots__ = ("_device_id", "_gone", "_is_primary")

    def __init__(self, device_id: int, context: Pointer, unwanted: Callable[[], object]) -> None:
        """Borrow a context of a device; ``unwanted`` is called when the last borrower has gone."""
        super().__init__("device", context, unwanted=unwanted)
        self._device_id = device_id
        self._gone = False
        # Contexts that the host made beside the device's own end with no reset that shows.
        self._is_primary = self._primary() == context

    @property
    def gone(self) -> bool:
        """True if the owner has reset the device; once that is so, it stays so."""
        if self._is_primary and not self._gone and not silence.finalised:
            present = context_before()
            self._gone = present != self.pointer and self._primary() != self.pointer
        return self._gone

    def _primary(self) -> Pointer | None:
        """Return the device's own context, or None; the thread's stays as it is."""
        previous = context_before()
        held = raw.ffi.new("int *")
        try:
            hold("aclrtSetDevice", self._device_id, held)
            return context_before()
        except AclError:
            return None
        finally:
            let_go("aclrtResetDevice", self._device_id, held)
            if previous is not None:
                cleanup("aclrtSetCurrentContext", previous)


def is_gone(owner: Resource) -> bool:
    """Return whether a device that another library owns was reset by its owner."""
    return isinstance(owner, Guest) and owner.gone


def cleanup_in(context: Pointer, name: str, *arguments: object) -> None:
    """Call a releasing function with ``context`` current; never raises, like ``cleanup``."""
    _with(context, functools.partial(cleanup, name, *arguments))


def give_back_in(owner: Resource, name: str, slot: Pointer) -> None:
    """Release the object that a slot holds with a device's context current, like ``give_back``."""
    if not is_gone(owner):
        _with(owner.pointer, functools.partial(give_back, name, slot))


def _with(context: Pointer, release: Callable[[], None]) -> None:
    if silence.finalised:
        return
    previous = context_before()
    if previous != context:
        cleanup("aclrtSetCurrentContext", context)
    release()
    if previous is not None and previous != context:
        cleanup("aclrtSetCurrentContext", previous)
