# SPDX-License-Identifier: Apache-2.0
"""Registry of timelines: by number, of a context, and of borrowed streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pyaclnn.cann import raw
from pyaclnn.runtime.finalizer_queue import FINALIZER_QUEUE
from pyaclnn.runtime.timeline import Timeline

if TYPE_CHECKING:
    from pyaclnn.cann.raw import Pointer

__all__ = [
    "borrowed_timeline",
    "borrowed_timelines",
    "forget_timeline",
    "release_idle",
    "timeline_of",
    "timelines_in",
]

_borrowed: Final[dict[tuple[int, int], Timeline]] = {}


def release_idle(context: int) -> int:
    """Free the idle memory in the pools of a context's streams.

    Args:
        context: The address of the context.

    Returns:
        The number of bytes; some may wait for their stream.
    """
    pools = [timeline.pool for timeline in timelines_in(context)]
    return sum(pool.trim() for pool in pools if pool is not None)


def timeline_of(number: int) -> Timeline | None:
    """Return a timeline by its number, or None if its stream is gone."""
    return Timeline.known.get(number)


def timelines_in(context: int) -> list[Timeline]:
    """List the timelines of a context's streams.

    Args:
        context: The address of the context.
    """
    return [timeline for timeline in list(Timeline.known.values()) if timeline.context == context]


def borrowed_timeline(context: Pointer, stream: Pointer) -> Timeline:
    """Return the timeline of a borrowed stream, the same for every borrower.

    Args:
        context: The stream's context.
        stream: The stream; NULL for the default stream of the context.

    Returns:
        Its timeline, which outlives the borrowers: only the stream's owner knows when it ends.
    """
    key = (raw.address_of(context), raw.address_of(stream))
    timeline = _borrowed.get(key)
    if timeline is None:
        with FINALIZER_QUEUE.lock:  # of two threads that make it, one does
            timeline = _borrowed.get(key)
            if timeline is None:
                timeline = _borrowed[key] = Timeline(context, stream)
    return timeline


def borrowed_timelines(context: int) -> list[Timeline]:
    """List the timelines of a context's borrowed streams.

    Args:
        context: The address of the context.
    """
    with FINALIZER_QUEUE.lock:
        return [timeline for (where, _), timeline in _borrowed.items() if where == context]


def forget_timeline(context: Pointer, stream: Pointer) -> Timeline | None:
    """Remove a timeline from those of ``borrowed_timeline`` and return it, if there was one."""
    with FINALIZER_QUEUE.lock:
        return _borrowed.pop((raw.address_of(context), raw.address_of(stream)), None)
