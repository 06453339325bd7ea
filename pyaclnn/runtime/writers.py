# SPDX-License-Identifier: Apache-2.0
"""Whoever uses memory comes after those that have still to write it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyaclnn.runtime.progress import unwritten
from pyaclnn.runtime.stream import Stream

if TYPE_CHECKING:
    from pyaclnn.runtime.transfer import Place

__all__ = ["follow_writers"]


def follow_writers(place: Place, nbytes: int, queue: Stream | None) -> None:
    """Come after what has been queued to write some memory.

    Drives ``aclrtSynchronizeStream``, or ``aclrtRecordEvent`` and ``aclrtStreamWaitEvent``.

    Args:
        place: Where the memory is.
        nbytes: How much of it is used.
        queue: The stream that uses it, which is made to wait; None to wait at once.

    Raises:
        KernelError: Work that was waited for failed.
    """
    for use in unwritten(place.memory, *place.span(nbytes)):
        if queue is not None and use.timeline is queue._timeline:
            continue
        writer = Stream.borrow(use.timeline.struct.stream, place.device)
        if queue is None:
            writer.synchronize()
            continue
        with writer.record() as reached:
            queue.wait(reached)
