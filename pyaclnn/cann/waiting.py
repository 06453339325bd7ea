# SPDX-License-Identifier: Apache-2.0
"""Waiting in CANN: cut into slices, between which Python handles signals."""

from __future__ import annotations

import functools
import math
import time
from typing import TYPE_CHECKING, Final

from pyaclnn.base.errors import DeadlineError, MissingSymbolError
from pyaclnn.cann import raw
from pyaclnn.cann.gate import call, described
from pyaclnn.cann.library import function
from pyaclnn.cann.status import code_named

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["never", "wait_for"]

_SLICE: Final = 250
"""Milliseconds for which C waits before Python looks whether there was a signal."""

_EXPIRED: Final = ("ACL_ERROR_RT_STREAM_SYNC_TIMEOUT", "ACL_ERROR_RT_EVENT_SYNC_TIMEOUT")


def never() -> bool:
    """Return that a wait has not been given up."""
    return False


def wait_for(
    name: str, *arguments: object, limit: int, given_up: Callable[[], bool] = never
) -> None:
    """Call a function that waits, by its twin that takes a timeout.

    The wait is cut into slices, between which Python handles signals: while C waits, Ctrl-C has no
    effect. Only where CANN lacks the twin is a wait without a limit one call.

    Args:
        name: The C function without a limit; the other's name ends in ``WithTimeout``.
        *arguments: Its arguments, but for the limit.
        limit: Milliseconds, or -1 to wait as long as it takes; see ``milliseconds``.
        given_up: Returns after a slice whether the wait is to end there.

    Raises:
        AclError: As ``call``; a DeadlineError if the time is over, or the wait was given up.
    """
    twin = f"{name}WithTimeout"
    if limit == -1 and not _has(twin):
        call(name, *arguments)
        return
    end = math.inf if limit == -1 else time.monotonic() + limit / 1000
    expired = False
    while True:
        began = time.monotonic()
        part = _SLICE if limit == -1 else math.ceil(min(max(1, (end - began) * 1000), _SLICE))
        try:
            call(twin, *arguments, part, describe=lambda: described(twin, (*arguments, limit)))
        except DeadlineError:
            now = time.monotonic()
            # One that comes at once is CANN's, and not the end of the slice.
            if now >= end or now - began < part / 2000 or given_up():
                raise
            expired = True
        else:
            break
    if expired:
        _forget_expiry()


@functools.cache
def _has(name: str) -> bool:
    try:
        function(name)
    except MissingSymbolError:
        return False
    return True


def _forget_expiry() -> None:
    """Take the end of a slice back out of the thread's last error, which others may read."""
    last = function("aclrtPeekAtLastError")(raw.ACL_RT_THREAD_LEVEL)
    if last in {code_named(name) for name in _EXPIRED}:
        function("aclrtGetLastError")(raw.ACL_RT_THREAD_LEVEL)
