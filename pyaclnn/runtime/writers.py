# SPDX-License-Identifier: Apache-2.0
"""Ordering of uses of an array after those that are queued on other streams, or on any."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn._binding import lib
from pyaclnn.runtime.pending import unfinished, unwritten, wait_for_use
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from pyaclnn.runtime.foreign import StreamLike

__all__ = ["follow_writers", "is_ordered", "wait_for_users"]

_is_of: Any = lib.binding_block_is_of


def is_ordered(array: Any, stream: StreamLike | None) -> bool:
    """Return whether no other stream than ``stream`` has still to write the memory of an array.

    Args:
        array: A device array.
        stream: The stream to use it; the default stream of its device if None.

    Returns:
        False as well where that takes a closer look, as for a stream of another library.
    """
    if stream is None:
        timeline = array._device._timeline  # noqa: SLF001  # that of its default stream
    else:
        timeline = stream._current if type(stream) is Stream else None
    if timeline is None or timeline.context != array._layout.context:
        return False
    memory = array._memory
    if _is_of(memory.block, timeline.struct):
        return True
    return bool(memory.block.open and not memory.is_written_beside(timeline))


def follow_writers(array: Any, queue: Stream | None) -> None:
    """Order the next use of an array after all queued writes to it.

    Drives ``aclrtSynchronizeStream``, or ``aclrtRecordEvent`` and ``aclrtStreamWaitEvent``.

    Args:
        array: A device array.
        queue: The stream that uses it, which is made to wait; None to wait at once.

    Raises:
        KernelError: Work that was waited for failed.
    """
    if queue is not None and is_ordered(array, queue):
        return
    place = array._place()  # noqa: SLF001  # of an array
    for use in unwritten(place.span(array._layout.span)):
        if queue is None:
            wait_for_use(use)
        elif use.timeline is not queue._timeline:
            writer = Stream.borrow(use.timeline.struct.stream, place.device)
            with writer.record() as reached:
                queue.wait(reached)


def wait_for_users(array: Any) -> None:
    """Wait until no queued work has still to read or write an array.

    Drives ``aclrtSynchronizeStream``.

    Args:
        array: A device array.

    Raises:
        KernelError: Work that was waited for failed.
    """
    place = array._place()  # noqa: SLF001  # of an array
    for use in unfinished(place.span(array._layout.span)):
        wait_for_use(use)
