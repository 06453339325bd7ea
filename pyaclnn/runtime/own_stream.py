# SPDX-License-Identifier: Apache-2.0
"""The stream whose host function the calling thread runs, and for which it must not wait."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING

from pyaclnn.base.errors import ContextError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyaclnn.runtime.timeline import Timeline

__all__ = ["calling_function", "is_own", "refuse_own"]


class _Own(threading.local):
    timeline: Timeline | None = None
    submission: int = 0


_own = _Own()


@contextlib.contextmanager
def calling_function(timeline: Timeline, submission: int) -> Iterator[None]:
    """Call a host function in a ``with`` statement.

    Args:
        timeline: The timeline of the stream, which waits until the function has returned.
        submission: The number of the submission that calls the function.
    """
    before = _own.timeline, _own.submission
    _own.timeline, _own.submission = timeline, submission
    try:
        yield
    finally:
        _own.timeline, _own.submission = before


def is_own(timeline: Timeline, sync_point: int | None = None) -> bool:
    """Return whether a point of a stream comes after the host function that this thread runs.

    Args:
        timeline: The timeline of the stream.
        sync_point: The submission that is waited for; None for all that are queued.
    """
    if timeline is not _own.timeline:
        return False
    # The function may be called before its own submission is marked as queued.
    last = getattr(sync_point, "last", sync_point)
    return last is None or last >= _own.submission


def refuse_own(routine: str, timeline: Timeline, sync_point: int | None = None) -> None:
    """Refuse to wait for a point of a stream that waits for the calling host function.

    Args:
        routine: The public function, for the message.
        timeline: The timeline of the stream.
        sync_point: The submission that is waited for; None for all that are queued.

    Raises:
        ContextError: The wait would never end.
    """
    if is_own(timeline, sync_point):
        message = (
            f"{routine}: a host function of a stream waits for that stream, which goes on only "
            "when the function has returned.\nHint: wait in the thread that called "
            "launch_host_func(), or in a function of another stream."
        )
        raise ContextError(message, routine=routine)
