# SPDX-License-Identifier: Apache-2.0
"""Work that is being submitted to a stream by Python itself: copies, fills, waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn._binding import lib
from pyaclnn.base.errors import ContextError
from pyaclnn.cann import raw

if TYPE_CHECKING:
    from pyaclnn.runtime.memory import Span
    from pyaclnn.runtime.timeline import Timeline

__all__ = ["Submission"]


class Submission:
    """Work that is being submitted; what comes after it is not taken to be passed before it is."""

    def __init__(self, timeline: Timeline) -> None:
        """Submit to the stream of a timeline."""
        self._struct = timeline.struct
        self._open = raw.ffi.new("struct binding_submission *")

    def begin(self, spans: Any = raw.NULL, count: int = 0, *, writes: bool = False) -> int:
        """Count the submission, and note which memory it uses.

        Args:
            spans: Bytes of blocks, an array of C.
            count: How many.
            writes: Whether it writes the first of them.

        Returns:
            0, or why not.
        """
        status: int = lib.binding_submission_begin(self._struct, spans, count, writes, self._open)
        return status

    def begin_on(self, *spans: Span, writes: bool) -> None:
        """Begin, making room for the note in blocks that many streams use.

        Args:
            *spans: The bytes it uses, whose memory lives until the stream has passed it.
            writes: Whether it writes the first of them.

        Raises:
            ContextError: Memory was given back already.
        """
        words = [(span.memory.block, span.first, span.end) for span in spans]
        noted = raw.ffi.new("struct binding_span[]", words)
        status = self.begin(noted, len(words), writes=writes)
        if status == raw.BINDING_BUSY:
            for span in spans:
                span.memory.make_room()
            status = self.begin(noted, len(words), writes=writes)
        if status:
            message = "memory that this work needs was given back.\nHint: close it later."
            raise ContextError(message, routine="Stream")

    def end(self) -> None:
        """Mark the submission as queued; twice is once."""
        lib.binding_submission_end(self._struct, self._open)

    # An interrupt may come right after the beginning.
    __del__ = end
