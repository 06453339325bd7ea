# SPDX-License-Identifier: Apache-2.0
"""Work that is being submitted to a stream by Python itself: copies, fills, waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyaclnn._binding import lib
from pyaclnn.base.errors import ContextError
from pyaclnn.cann import raw

if TYPE_CHECKING:
    from pyaclnn.runtime.memory import Memory
    from pyaclnn.runtime.timeline import Timeline

__all__ = ["Submission"]


class Submission:
    """Work that is being submitted; what comes after it is not taken to be passed before it is."""

    def __init__(self, timeline: Timeline) -> None:
        """Submit to the stream of a timeline."""
        self._struct = timeline.struct
        self._open = raw.ffi.new("struct binding_submission *")

    def begin(
        self, blocks: Any = raw.NULL, count: int = 0, written: tuple[int, int] = (0, 0)
    ) -> int:
        """Count the submission, and note which memory it uses.

        Args:
            blocks: The blocks, an array of C.
            count: How many.
            written: Where it writes the first block: a byte, and the one after the last.

        Returns:
            0, or why not.
        """
        status: int = lib.binding_submission_begin(
            self._struct, blocks, count, *written, self._open
        )
        return status

    def begin_on(self, *memories: Memory, written: tuple[int, int]) -> None:
        """Begin, making room for the note in blocks that many streams use.

        Args:
            *memories: The memory it uses, which lives until the stream has passed it.
            written: Where it writes the first of them: a byte, and the one after the last.

        Raises:
            ContextError: Memory was given back already.
        """
        blocks = raw.ffi.new("struct binding_block *[]", [memory.block for memory in memories])
        status = self.begin(blocks, len(memories), written)
        if status == raw.BINDING_BUSY:
            for memory in memories:
                memory.make_room()
            status = self.begin(blocks, len(memories), written)
        if status:
            message = "memory that this work needs was given back.\nHint: close it later."
            raise ContextError(message, routine="Stream")

    def end(self) -> None:
        """Mark the submission as queued; twice is once."""
        lib.binding_submission_end(self._struct, self._open)

    # An interrupt may come right after the beginning.
    __del__ = end
